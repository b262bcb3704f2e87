#include <algorithm>
#include <cstdint>
#include <memory>

#include "app/grammar/commands.hpp"
#include "app/lab/commands.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/registry.hpp"
#include "src/auto/choice.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/source_text.hpp"
#include "src/lab/explain/reuse.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

/// This is far more than any picture has, and few enough that all counts stay exact.
constexpr std::int64_t kMaxExplainedSide = 1'000'000;
constexpr int kMostCells = 400;      // of a table, which a person reads
constexpr int kTablePicture = 1024;  // the sides of its picture: whole tiles of most sizes

/// A word with one side stands for a square.
Extent mask_sides_in(const std::string& word) {
  const auto sides = parse_sides(word.find_first_of("xX") == word.npos ? word + "x" + word : word);
  require(sides && sides->width >= 1 && sides->height >= 1 && sides->width <= kMaxMaskSide &&
              sides->height <= kMaxMaskSide,
          "--masks: " + in_quotes(word) +
              " is not a side of a mask; write whole numbers from 1 to " +
              std::to_string(kMaxMaskSide) + ", e.g. 3,5x7,31" +
              (sides || word.find_first_not_of("0123456789") == word.npos
                   ? ""
                   : "; --mask takes files and masks by name"));
  return *sides;
}

/// Fills in what is not given, and throws UsageError where outputs do not go together.
void complete(CompareCommand& command) {
  const std::string* const paths[] = {&command.json, &command.csv, &command.markdown};
  require(std::ranges::count(paths, "-", [](const std::string* path) { return *path; }) <= 1,
          "--json, --csv, --markdown: one of them goes to standard output; write the others to "
          "files, e.g. --json=FILE");
  const std::string end = extension_of(command.in);
  require(end != "json" && end != "csv" && end != "md",
          "IN is a picture, not " + in_quotes(command.in) +
              "; a file to be written is joined by '=', e.g. --json=" + command.in);
  if (!command.from.empty()) return;
  for (const Extent& size : command.sizes) check_pixels(size, command.read.max_pixels);
  if (command.masks.empty() && command.random_sides.empty())
    command.masks = {"3x3", "9x9", "31x31"};
  if (!command.table) command.table = TableKind::brief;
  require(command.plot.empty() ||
              command.sizes.size() * command.depths.size() * command.channels.size() == 1,
          std::string("--plot: ") + kOnePicture);
  CompareOptions& compare = command.compare;
  if (compare.contenders.empty()) compare.contenders = all_contenders(this_machine());
  compare.reference_patience *= compare.row_patience.value_or(1);
}

/// The sides in a list such as 8,16,32.
std::vector<int> sides_in(const std::string& key, const std::string& list, int most) {
  const std::string option = "--table " + key;
  std::vector<int> sides;
  for (const std::string& word : listed_in(option, list)) {
    const bool is_number =
        !word.empty() && word.size() <= 6 && word.find_first_not_of("0123456789") == word.npos;
    const int side = is_number ? number_in<int>(option, word) : 0;
    require(side >= 1 && side <= most,
            option + ": " + in_quotes(word) + " is not a side; write whole numbers from 1 to " +
                std::to_string(most) + ", e.g. " + key + "=" + (key == "tile" ? "8,16,32" : "5,9"));
    sides.push_back(side);
  }
  return sides;
}

/// Reads the words of --table. One without '=' is the strategy that was to stand before it.
void read_tables(ExplainCommand& command, Words lists) {
  ReuseTables& table = command.table;
  if (lists.empty()) return;
  std::string& strategy = command.convolver.request.strategy;
  const std::string none = Request().strategy;
  // The first words may have been taken for the strategy.
  if (strategy.find('=') != strategy.npos) lists.push_back(std::exchange(strategy, none));
  for (const std::string& words : lists) {
    for (std::size_t from = 0, to; from < words.size(); from = to + 1) {
      to = std::min(words.find(' ', from), words.size());
      const std::string word = words.substr(from, to - from);
      const std::size_t equals = word.find('=');
      if (word.empty()) continue;
      if (word == kOverlapTable) {
        table.overlap = true;
        continue;
      }
      if (equals == word.npos && strategy == none && word != "tile" && word != "mask") {
        strategy = word;
        continue;
      }
      const std::string key = word.substr(0, equals);
      require_choice("list of --table", key, {"tile", "mask"});
      require(equals != word.npos, "--table " + key + ": write its sides, e.g. " + key + "=5,9");
      std::vector<int>& sides = key == "tile" ? table.tiles : table.masks;
      require(sides.empty(), "--table: " + key + " is given twice; put commas between its sides");
      sides = sides_in(key, word.substr(equals + 1), key == "tile" ? 1024 : kMaxPartSide);
    }
  }
  if (strategy == kOverlapTable) {
    table.overlap = true;
    strategy = none;
  }
  if (table.overlap) {
    require(strategy == none && table.tiles.empty() && table.masks.empty(),
            "--table overlap: it compares the strategies that cut a picture into blocks, for one "
            "--mask and --size, with --block, --part and --domain; leave out a strategy, tile= and "
            "mask=");
    strategy = "in-parts";  // which has all settings of that table
    return;
  }
  for (const auto& [key, sides] : {std::pair{"tile", &table.tiles}, {"mask", &table.masks}})
    require(!sides->empty(), std::string("--table: ") + key +
                                 " is missing; write e.g. --table tile=8,16,32 mask=5,9");
  require(table.tiles.size() * table.masks.size() <= kMostCells,
          "--table: that is more than " + std::to_string(kMostCells) +
              " cells; leave out some tiles or masks");
}

void check_tables(ExplainCommand& command) {
  const std::string& strategy = command.convolver.request.strategy;
  if (!command.table.overlap && strategy != Request().strategy) {
    Words names;
    for (const Strategy* each : strategies_with_reuse()) names.emplace_back(each->name);
    if (const Strategy* const known = find_strategy(strategy))
      require(std::ranges::count(names, strategy) > 0,
              "--table: there are no tables of " + strategy + ", because " + reuse_refusal(*known) +
                  "; there are those of " + listed(names));
    const std::string end = extension_of(strategy);
    require(end != "json" && end != "md",
            "--table: " + in_quotes(strategy) +
                " is no strategy; a file to be written is joined by '=', e.g. --" +
                (end == "md" ? "markdown=" : "json=") + strategy);
    require_choice("strategy with tables of reuse", strategy, names);
  }
  if (!command.sized) command.width = command.height = kTablePicture;
  require(command.json != "-" || command.table.markdown != "-",
          "--json, --markdown: both go to standard output; give one of them a file");
  for (const std::string& path : {command.json, command.table.markdown})
    if (!path.empty() && path != "-") check_writable(path);
}

/// Throws UsageError where there is nothing to explain.
void check_subject(ExplainCommand& command) {
  if (command.table.wanted()) return check_tables(command);
  const std::string& strategy = command.convolver.request.strategy;
  Words names = strategy_names(this_machine());
  std::erase(names, Request().strategy);  // auto has no blocks
  require(!strategy.empty() && strategy != Request().strategy,
          "explain what? Name a strategy: " + listed(names, "or"));
  const std::string end = extension_of(strategy);
  require(end != "json",
          in_quotes(strategy) +
              " is no strategy; a file to be written is joined by '=', e.g. --json=" + strategy);
  require_choice("strategy", strategy, names);
  if (!command.json.empty() && command.json != "-") check_writable(command.json);
}

/// Sides of a block or a mask; `is_launch`: one number stands for a row, three for a volume.
BlockSides launch_sides_in(const std::string& option, const std::string& word, std::int64_t most,
                           bool is_launch) {
  std::optional<BlockSides> read = parse_launch_sides(word);
  if (!is_launch && read && (read->height == 0 || read->depth > 1)) read.reset();
  require(read && read->width >= 1 && read->width <= most && read->height <= most &&
              read->depth <= most,
          option + ": two numbers up to " + std::to_string(most) +
              " with an x between, such as 16x16" + (is_launch ? ", or one for a row" : "") +
              "; not " + in_quotes(word));
  return *read;
}

}  // namespace

void declare(Binder& binder, CompareCommand& command) {
  binder.positional("IN", command.in, "A picture; - is standard input (default: noise)", false);
  binder.group("What to compare", true);
  binder.repeated("--mask", "MASK", command.masks,
                  "A file, a mask by name, or WxH for a Gaussian. Its sigma is a sixth of the "
                  "side. May be given several times (default 3x3, 9x9 and 31x31)");
  const auto read_masks = [&](const std::string& list) {
    for (const std::string& word : listed_in("--masks", list))
      command.random_sides.push_back(mask_sides_in(word));
  };
  binder.option("--masks", "LIST", read_masks, "Random masks by their sides: 3,5x7,31");
  binder.list("--weights", command.weights, choices_of(kWeights),
              "Weights of --masks (default 16bit). Commas between several");
  const auto read_strategies = [&](const std::string& list) {
    command.compare.contenders = parse_contenders(list, this_machine());
  };
  binder.option("--strategies", "LIST", read_strategies,
                "Names with commas between (default: all). Settings follow a name: "
                "basic,tiled-out:tile=16:halo=two-step");
  const auto read_sizes = [&](const std::string& list) {
    command.sizes.clear();
    for (const std::string& word : listed_in("--size", list))
      command.sizes.push_back(size_in(word));
  };
  binder.option("--size", "LIST", read_sizes,
                "Sizes of the noise, WxH (default 2048x2048). Commas between several");
  binder.list("--depth", command.depths, choices_of(kDepths),
              "Depths of the noise (default u8). Commas between several");
  binder.list("--channels", command.channels, kChannels,
              "Channels of the noise (default 1). Commas between both");
  binder.group("How to measure");
  binder.number("--repeats", "N", command.compare.repeats, {3, 100'000},
                "Most runs of a row (default 21). Fewer run, but at least 3, if all would take "
                "longer than --patience. On a GPU only one runs if it alone takes longer");
  binder.number("--patience", "S", command.compare.row_patience, {0.001, 3600},
                "Seconds for the runs of a row (default 1 on a GPU, else 0.1). If the whole "
                "picture takes longer, only a part of it is filtered. Computing the bytes that "
                "results are compared with may take 4 S (default 4)");
  reading_options(binder, command.read);
  border_options(binder, command.compare);
  device_options(binder, command.compare);

  binder.group("Results", true);
  binder.option("--from", "FILE", command.from,
                "Show or draw what --json=FILE wrote; measure nothing");
  binder.output("--json", command.json, "As JSON, instead of the table, or to FILE");
  binder.output("--csv", command.csv, "As CSV, a line for each row, likewise");
  binder.output("--markdown", command.markdown, "As Markdown, likewise");
  binder.choice("--table", command.table, choices_of(kTableKinds),
                "Figures to show (default brief). full: all. brief: a column for each mask");
  binder.option("--plot", "FILE", command.plot, "A chart, .svg or .png; needs gnuplot");
  binder.group("Results");
  binder.choice("--plot-kind", command.plot_kind, choices_of(kPlotKinds), "What it shows");
  message_options(binder, command.loudness);
  binder.then([&command] { complete(command); });
}

void declare(Binder& binder, ExplainCommand& command) {
  binder.positional("STRATEGY", command.convolver.request.strategy,
                    "Way to convolve (convfilt list strategies)", false,
                    strategy_names(this_machine()));
  binder.group("What is explained", true);
  binder.option("--mask", "M", command.mask,
                "WxH, a text file, or a mask by name (default 5x5, or 3x3)");
  const auto read_size = [&](const std::string& word) {
    const auto size = parse_sides(word);
    const auto fits = [](std::int64_t side) { return side >= 1 && side <= kMaxExplainedSide; };
    require(size && fits(size->width) && fits(size->height),
            "--size: " + in_quotes(word) + " is not a size; write WxH, each from 1 to " +
                std::to_string(kMaxExplainedSide));
    command.sized = true;
    command.width = int(size->width);
    command.height = int(size->height);
  };
  binder.option("--size", "WxH", read_size,
                "Size of the picture (default 200x120). For large blocks the default is twice or "
                "four times as large");
  binder.choice("--depth", command.depth, choices_of(kDepths),
                "Depth of its samples (default f32, as in the books). It is u8 if STRATEGY takes "
                "no f32");
  binder.option("--arch", "NAME", command.architecture, "GPU that holds the blocks (default sm_90)",
                words_of(architectures()));
  binder.option("--picture", "FILE", command.picture,
                "Draw it to an .svg or a .png, with what threads load and compute");
  const auto read_at = [&](const std::string& word) {
    const std::size_t comma = word.find(',');
    const auto x = number_of_word<int>(word.substr(0, comma)),
               y = number_of_word<int>(comma == word.npos ? "" : word.substr(comma + 1));
    require(x && y, "--at: " + in_quotes(word) + " is no place; write X,Y, e.g. 100,60");
    command.at = {*x, *y};
  };
  binder.option("--at", "X,Y", read_at,
                "Draw the block that computes output X,Y, from 0 (default: one in the middle)");
  binder.output("--json", command.json, "As JSON, instead of text, or to FILE; tables, too");
  const auto lists = std::make_shared<Words>();
  binder.group("Tables, by formula alone", true);
  binder.several("--table", "LISTS", 2, *lists,
                 "Reuse of samples: tiles beside masks. tile=8,16,32,64 mask=5,9 shows it in one "
                 "dimension and in two, for STRATEGY or for all that tile. overlap shows "
                 "overlap-discard beside overlap-add for one --mask, also with --block, --part and "
                 "--domain. (By default --size is 1024x1024)");
  binder.output("--markdown", command.table.markdown, "As Markdown, instead of text, or to FILE");
  border_options(binder, command.convolver);
  binder.flag("--flip", command.flip, "Turn the mask by 180 degrees: true convolution");
  binder.then([&command, lists] {
    read_tables(command, *lists);
    check_subject(command);
    find_architecture(command.architecture);
  });
  setting_options(binder, command.convolver.request);
}

void declare(Binder& binder, CheckCommand& command) {
  binder.positional("IN", command.in, "The picture that was convolved; - is standard input");
  binder.positional("THEIRS", command.theirs, "What another program made of it");
  binder.group("What it should be", true);
  binder.option("--mask", "MASK", command.mask,
                "The mask: a file, or a name (convfilt list masks). It must be given");
  binder.number("--border-value", "V", command.border_value,
                {.least = std::numeric_limits<double>::lowest()},
                "Sample outside the picture, if that is constant (default 0)");
  binder.number("--tolerance", "STEPS", command.tolerance, {0, 1000000},
                "By how much samples may differ (default 0). A step is 1 of 255 or of 65535; of "
                "floats it is a number (default: roundings)");
  binder.group("Results", true);
  binder.option("--difference", "FILE", command.difference,
                "A picture of the distances, so bright that the largest is white");
  binder.output("--json", command.json, "As JSON, instead of the table, or to FILE");
  binder.group("Files");
  reading_options(binder, command.read);
  message_options(binder, command.loudness);
  binder.then([&command] {
    require(!command.mask.empty(),
            "--mask is missing: name the mask that the other program applied, e.g. --mask m.txt");
    require(command.in != "-" || command.theirs != "-",
            "IN, THEIRS: only one of them can be standard input");
  });
}

void declare(Binder& binder, TuneCommand& command) {
  binder.group("What to measure", true);
  binder.option("--device", "NAME", command.device,
                "auto: the CPU, and the GPU if there is one (default); cpu: no GPU; cuda:1: that "
                "GPU");
  binder.flag("--quick", command.quick, "Take fewer masks and runs, in about half the time");
  binder.option("--output", "FILE", command.output,
                "Where the profile goes; - is standard output. By default it joins your profiles, "
                "which auto reads first");
  message_options(binder, command.loudness);
  binder.then([&command] {
    require(command.device != name_of(DeviceKind::emulator),
            "--device=emulator: its time says nothing about a GPU; tune measures cpu or cuda");
    check_names({.device = command.device}, this_machine());
  });
}

void declare(Binder& binder, TryCommand& command) {
  binder.positional("KERNEL", command.kernel, "A .cu file with one __global__ function");
  binder.group("How it is launched", true);
  const auto read_sides = [&](const char* option, std::optional<BlockSides>& sides, int most) {
    return [option, &sides, most](const std::string& word) {
      sides = launch_sides_in(option, word, most, true);
    };
  };
  binder.option("--block", "WxH", read_sides("--block", command.launch.block, 1024),
                "Threads of a block (default: as the file says). 256 alone is a row of threads "
                "for as many outputs of the picture, one after the other. In the file, write // "
                "launch: block 16x16");
  binder.option("--outputs", "WxH", read_sides("--outputs", command.launch.outputs, 4096),
                "Outputs of a block (default: as the file says). They give the number of "
                "blocks; if the file says nothing, each thread has one output");
  binder.number("--shared", "BYTES", command.launch.shared_bytes, {0, kMostShared},
                "Dynamic shared memory of a block (default: as the file says, else 0; 49152 if "
                "its launch cannot be computed)");
  binder.flag(
      "--clear-out", command.launch.clears_out,
      "Set the output to 0 first, which kernels need that add to it (default: it is unset)");
  binder.group("What it is tried with", true);
  binder.option("--mask", "MASK", command.mask,
                "A text file, or a mask by name (default: random weights)");
  const auto read_mask_size = [&](const std::string& word) {
    command.wish.size = launch_sides_in("--mask-size", word, 101, false);
  };
  binder.option("--mask-size", "WxH", read_mask_size,
                "Size of random weights (default: by the file). That is the size of the "
                "__constant__ array, else 5x5, or another for which the kernel is right; several "
                "if the kernel takes the size");
  binder.choice("--mode", command.wish.is_valid, Choices<bool>{{"same", false}, {"valid", true}},
                "Outputs for all samples, or only where the mask lies inside. By default those "
                "with which the kernel is right");
  binder.number("--tolerance", "T", command.wish.absolute, {0, 1000000},
                "By how much outputs may be off (default: roundings)");
  binder.number("--relative-tolerance", "T", command.wish.relative, {0, 1000000},
                "The same as a share of what they should be. The two add up");
  binder.option("--device", "NAME", command.device,
                "auto: on the host, and on a GPU if there are one and nvcc (default). cpu: on "
                "the host alone. cuda, cuda:1: on that GPU, too");
  binder.flag("--json", command.json, "Print the verdict as JSON on standard output");
}

const OtherCommand kCompare{
    {"compare", "Compare all ways to convolve: speed, reads, exactness",
     "Compare ways to convolve, on a picture or on noise: how fast they are, beside\n"
     "what the device could do, and how exact.\n",
     "  convfilt compare                             every strategy, some masks, noise\n"
     "  convfilt compare photo.jpg --mask 9x9 --mask emboss3\n"
     "  convfilt compare --strategies basic,tiled-out:tile=16,auto --depth f32\n"
     "  convfilt compare --size 1920x1080,8192x8192 --depth u8,f32 --masks 3,7,15\n"
     "  convfilt compare --json=all.json --plot bars.svg     the table, too\n"
     "  convfilt compare --markdown >table.md\n",
     "Without a GPU, its kernels are counted in the emulator instead of timed.\n"},
    declare_as<CompareCommand>};

const OtherCommand kExplain{
    {"explain", "Show what one block of a strategy does, in numbers and as a picture",
     "Explain what one block of a strategy does, checked against the counts of the\n"
     "emulator; or show the textbook's tables of reuse, or of ways to overlap blocks.\n",
     "  convfilt explain tiled-in --mask 5x5 --tile 16\n"
     "  convfilt explain tiled-out --mask 9x9 --size 1920x1080 --arch sm_89\n"
     "  convfilt explain tiled-in --mask 5x5 --size 64x44 --picture tiles.svg --at 0,0\n"
     "  convfilt explain tiled-out --mask 9x9 --json --picture tiles.svg\n"
     "  convfilt explain --table tile=8,16,32,64 mask=5,9\n"
     "  convfilt explain --table overlap --mask 9x9\n"
     "  convfilt explain in-parts --mask 36x1 --size 60x1 --part 6 --block 12 --mode full "
     "--flip\n"},
    declare_as<ExplainCommand>};

const OtherCommand kCheck{
    {"check", "Check another program's result against the true convolution",
     "Report how far another program's result is from the true convolution, and with\n"
     "which border, shift, turn of the mask, scale and rounding it agrees.\n",
     "  convfilt check in.png theirs.png --mask m.txt\n"
     "  convfilt check in.png theirs.png --mask sobel_x --difference where.png\n"
     "  convfilt check in.png theirs.png --mask m.txt --tolerance 1 --json\n",
     "Weights are tried as written, flipped, mirrored, transposed; divided by their\n"
     "divisor, sum or number; shifted by up to half the mask, at least 2 pixels. Borders\n"
     "are those of --border in convfilt blur, results left 0 or copied where the mask\n"
     "leaves the picture, and weights that are left out there. Results are clamped,\n"
     "modulo 256 or 65536, absolute, or halved around the middle; rounded to nearest,\n"
     "down or toward 0.\n\n"
     "Exit codes: 0 all samples agree; 1 they differ by more than --tolerance, or a file\n"
     "is not read; 2 the command line is wrong.\n"},
    declare_as<CheckCommand>};

const OtherCommand kTune{
    {"tune", "Measure this machine, so that auto takes what is fastest on it",
     "Measure this machine, CPU and GPU, so that auto takes what is fastest on it.\n",
     "  convfilt tune\n"
     "  convfilt tune --quick --device cpu\n"
     "  convfilt tune --output my-gpu.json               to look at it, or to share it\n",
     "The profile is written whole at the end, or not at all. It may change how long a\n"
     "command takes, but never its bytes, except for the roundings of transforms where\n"
     "it moves them between CPU and GPU.\n\n"
     "It lies in $XDG_CACHE_HOME/convfilt/profiles, else ~/.cache/convfilt/profiles. If\n"
     "the environment variable CONVFILT_PROFILES names a folder, profiles are read from\n"
     "that alone.\n"},
    declare_as<TuneCommand>};

const OtherCommand kTry{
    {"try", "Judge a kernel of your own: is it right, and if not, what is wrong",
     "Run a convolution kernel, written in plain CUDA C++, on pictures of many sizes,\n"
     "and report what is wrong with it, and in which line.\n",
     "  convfilt try samples/kernels/tiled_in.cu         installed: in share/convfilt\n"
     "  convfilt try my_kernel.cu --block 16x16 --outputs 12x12\n"
     "  convfilt try my_kernel.cu --mode valid --tolerance 0.001\n"
     "  convfilt try my_kernel.cu --json\n",
     "On the host, which needs no GPU, every access to memory is watched; on a GPU the\n"
     "kernel is also timed beside our strategies. The file has one __global__ function.\n"
     "main() and other functions for the host are read for the launch alone, and only if\n"
     "no comment gives it:\n\n"
     "  // launch: block 20x20, a block for each 16x16 outputs\n"
     "  __constant__ float F[5][5];    // the mask, or else a parameter float* mask\n"
     "  __global__ void filter(float* in, float* out, int width, int height)\n\n"
     "Samples are floats, and weights apply as written. Ghost cells are 0, or there are\n"
     "outputs only where the whole mask lies inside (\"valid\"). A kernel with a width but no\n"
     "height filters lines; one with a depth filters volumes, and its mask is a cube; one\n"
     "with channels gets three. Parameters are known by their names, in any order; the\n"
     "mask's sides (int mask_width, int mask_height) or its radius (int r) may be among\n"
     "them. If the names do not tell, the output is the pointer that is written to, and\n"
     "two numbers are width and height. Template parameters take the values of the launch,\n"
     "else their defaults. The output holds unknown values when the kernel begins, unless\n"
     "--clear-out or the comment sets it to 0: // launch: block 16x16, out cleared\n"
     "The compiler is c++, or what CXX names; for the GPU nvcc, or what NVCC names.\n\n"
     "A run ends after 10 s of processor time. The kernel runs with your rights: no\n"
     "sandbox keeps it from your files, so graders try others' kernels in a container.\n\n"
     "Exit codes: 0 it is right; 1 it is wrong, or not compiled; 2 the command line is\n"
     "wrong; 3 there is no verdict, because the file or a compiler is missing. --json prints\n"
     "an object with a \"status\" in all cases but 2: right, wrong, refused,\n"
     "not_compiled or error.\n"},
    declare_as<TryCommand>};

}  // namespace convfilt
