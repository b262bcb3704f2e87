#include "app/checks.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/registry.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/settings.hpp"
#include "src/base/sides.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/batch/codec_choice.hpp"
#include "src/compare/plot.hpp"
#include "src/explain/reuse.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

/// This is far more than any picture has, and few enough that all counts stay exact.
constexpr std::int64_t kMaxExplainedSide = 1'000'000;

void require(bool met, const std::string& message) {
  if (!met) throw UsageError(message);
}

/// `kind` names the choice in the message: "unknown KIND 'word'; did you mean ...".
void require_choice(const std::string& kind, const std::string& word, const Words& choices) {
  require(std::find(choices.begin(), choices.end(), word) != choices.end(),
          unknown_name(kind, word, choices));
}

/// Fills in the border, its value, and the mode.
void complete_border(ConvolverOptions& convolver, const Raw& raw) {
  require_choice("mode", raw.mode, words_of(kModes));
  for (Mode mode : kModes)
    if (raw.mode == name_of(mode)) convolver.mode = mode;
  const bool constant = convolver.mode == Mode::full || raw.border_value;
  const std::string border =
      raw.border.value_or(std::string(name_of(constant ? Border::constant : Border::replicate)));
  require_choice("border", border, words_of(kBorders));
  for (Border b : kBorders)
    if (border == name_of(b)) convolver.border = b;
  convolver.border_value = raw.border_value.value_or(convolver.border_value);
}

/// Fills in whether rows are padded.
void complete_pitch(ConvolverOptions& convolver, const Raw& raw) {
  require_choice("pitch", raw.pitch, words_of(kPitches));
  convolver.padded_pitch = raw.pitch == "padded";
}

/// How much the program says.
Loudness loudness_of(const Raw& raw) {
  return raw.verbose ? Loudness::verbose : raw.quiet ? Loudness::quiet : Loudness::normal;
}

/// Fills in the threads and the strategy's settings, and checks the names of strategy and device.
void complete_request(Request& request, const Raw& raw) {
  request.threads = raw.threads.value_or(request.threads);
  for (Setting setting : kSettings)
    if (const auto& word = raw.settings[std::size_t(setting)])
      set_from_word(request.tuning, setting, *word);
  check_names(request, this_machine());
  for (Setting setting : kSettings)
    if (raw.settings[std::size_t(setting)]) check_setting(request, setting, this_machine());
}

/// Fills in how IN is read.
void complete_reading(ReadOptions& read, const Raw& raw) {
  require_choice("value of --on-damage", raw.on_damage, words_of(kOnDamage));
  read.refuse_damaged = raw.on_damage == "fail";
  require_choice("loader", raw.loader, words_of(kLoaders));
  read.loader = raw.loader == "opencv" ? Loader::opencv : Loader::automatic;
}

Region region_in(const std::string& word) {
  int numbers[4];
  std::size_t from = 0;
  for (int i = 0; i < 4; ++i) {
    const std::size_t comma = i < 3 ? word.find(',', from) : word.size();
    require(comma != word.npos,
            "--region: " + in_quotes(word) + " is not X,Y,W,H, e.g. 100,50,640,480");
    numbers[i] =
        number_in<int>("--region", word.substr(from, comma - from), {.least = i < 2 ? 0 : 1});
    from = comma + 1;
  }
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

void complete_mapping(Mapping& mapping, const Raw& raw) {
  require_choice("output", raw.negative, words_of(kNegatives));
  for (const NamedNegative& named : kNegatives)
    if (raw.negative == named.name) mapping.negative = named.negative;
  if (!raw.region.empty()) mapping.region = region_in(raw.region);
}

/// Reads a number of bytes, with a letter for their unit.
std::int64_t bytes_in(const std::string& option, const std::string& word) {
  constexpr std::string_view kUnits = "KMGT";
  const char last =
      word.empty() ? ' ' : char(std::toupper(static_cast<unsigned char>(word.back())));
  const std::size_t unit = kUnits.find(last);
  const bool has_unit = unit != kUnits.npos;
  const int shift = has_unit ? 10 * int(unit + 1) : 0;
  std::int64_t number = 0;
  const char* end = word.data() + word.size() - (has_unit ? 1 : 0);
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  require(error == std::errc() && stop == end && number > 0 &&
              number <= (std::int64_t{1} << 62) >> shift,
          option + ": " + in_quotes(word) +
              " is no size from 1 byte to 4194304T; give one such as 500M or 2G");
  return number << shift;
}

void complete_folder(PictureOptions& picture, const Raw& raw) {
  FolderOptions& folder = picture.folder;
  require_choice("value of --if-exists", raw.if_exists, words_of(kIfExists));
  for (std::size_t i = 0; i < std::size(kIfExists); ++i)
    if (raw.if_exists == kIfExists[i]) folder.if_exists = IfExists(i);
  require_choice("value of --codec", raw.codec, words_of(kCodecKinds));
  for (std::size_t i = 0; i < std::size(kCodecKinds); ++i)
    if (raw.codec == kCodecKinds[i]) picture.codec = CodecKind(i);
  if (!raw.shard.empty())
    folder.shard = shard_in(raw.shard, [](const char* variable) { return std::getenv(variable); });
  if (!picture.devices.empty()) device_numbers(picture.devices);
  if (!raw.max_memory.empty()) picture.max_memory = bytes_in("--max-memory", raw.max_memory);
  picture.progress = !raw.no_progress;

  const Selection& selection = folder.selection;
  const bool listed = !selection.files_from.empty();
  // Words before OUT are inputs; with -o all of them are.
  if (raw.out.empty()) {
    require(picture.more.empty(),
            "several inputs: name the folder for their results with -o, e.g. -o out/");
    if (listed && picture.out.empty()) std::swap(picture.in, picture.out);
  } else {
    if (!picture.out.empty()) picture.more.insert(picture.more.begin(), picture.out);
    picture.out = raw.out;
  }
  // These make sense of a folder alone, or would be passed over in silence otherwise.
  const std::pair<const char*, bool> for_folders[] = {
      {"--files-from", listed},
      {"--recursive", selection.recursive},
      {"--glob", !selection.globs.empty()},
      {"--follow-links", selection.follow_links},
      {"--name", selection.name != Selection{}.name},
      {"--if-exists", folder.if_exists != IfExists::overwrite},
      {"--newer", folder.newer},
      {"--resume", folder.resume},
      {"--shard", !raw.shard.empty()},
      {"--dry-run", picture.dry_run},
      {"--fail-fast", folder.schedule.fail_fast},
      {"--json", picture.json},
      {"--codec=gpu", picture.codec == CodecKind::gpu},
      {"--devices", !picture.devices.empty()},
      {"-o", !raw.out.empty()}};
  for (const auto& [option, is_given] : for_folders)
    if (is_given && picture.needs_folder.empty()) picture.needs_folder = option;
  require(!listed || !picture.out.empty(),
          "OUT is missing: name the folder for the results with -o, e.g. -o out/");
}

void complete(PictureOptions& picture, const Raw& raw) {
  complete_folder(picture, raw);
  picture.loudness = loudness_of(raw);
  complete_request(picture.convolver.request, raw);
  complete_border(picture.convolver, raw);
  complete_pitch(picture.convolver, raw);
  complete_reading(picture.read, raw);
  picture.write.loader = picture.read.loader;
  complete_mapping(picture.mapping, raw);
  if (raw.subsampling.empty()) return;
  require_choice("subsampling", raw.subsampling, words_of(kSubsamplings));
  for (const NamedSubsampling& named : kSubsamplings)
    if (raw.subsampling == named.name) picture.write.subsampling = named.subsampling;
}

/// The words of a list with commas between them, of which there must be one. Each appears once.
Words listed_in(const std::string& option, const std::string& list) {
  Words words;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    const std::string word = list.substr(from, comma - from);
    require(!word.empty(), option + ": something is missing beside a comma; write a,b,c");
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    from = comma + 1;
  }
  return words;
}

/// Those of `things` whose names are in the list, in the list's order.
template <class Things>
auto named_in(const std::string& option, const std::string& list, const Things& things) {
  std::vector<std::remove_cvref_t<decltype(*std::begin(things))>> found;
  for (const std::string& word : listed_in(option, list)) {
    require_choice("value of " + option, word, words_of(things));
    for (const auto& thing : things)
      if (word == name_of(thing)) found.push_back(thing);
  }
  return found;
}

int channels_in(const std::string& word) {
  require(word == "1" || word == "3", "--channels: " + in_quotes(word) +
                                          " is not a number of channels; write 1, or 3 for colour");
  return word == "1" ? 1 : 3;
}

Extent size_in(const std::string& word, std::int64_t most) {
  const auto sides = parse_sides(word);
  require(sides.has_value(),
          "--size: " + in_quotes(word) + " is not a size; write WxH, e.g. 2048x2048");
  require(
      sides->width >= 1 && sides->height >= 1 && sides->width <= most / sides->height,
      "--size: " + in_quotes(word) + ": a picture has 1 to " + std::to_string(most) + " pixels");
  return *sides;
}

void read_noise(CompareCommand& command) {
  const auto& words = command.words;
  if (words.size) {
    command.sizes.clear();
    for (const std::string& word : listed_in("--size", *words.size))
      command.sizes.push_back(size_in(word, command.read.max_pixels));
  }
  if (words.depth) command.depths = named_in("--depth", *words.depth, kDepths);
  if (!words.channels) return;
  command.channels.clear();
  for (const std::string& word : listed_in("--channels", *words.channels)) {
    command.channels.push_back(channels_in(word));
  }
}

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
                   : "; --mask takes files and filters"));
  return *sides;
}

void read_masks(CompareCommand& command) {
  const auto& words = command.words;
  if (!words.masks && command.masks.empty()) command.masks = {"3x3", "9x9", "31x31"};
  if (!words.masks) return;
  std::vector<Weights> weights = {Weights::bits16};
  if (words.weights) weights = named_in("--weights", *words.weights, kWeights);
  for (const Weights kind : weights)
    for (const std::string& word : listed_in("--masks", *words.masks))
      command.random_masks.push_back({kind, mask_sides_in(word)});
}

bool has_many_pictures(const CompareCommand& command) {
  return command.sizes.size() * command.depths.size() * command.channels.size() > 1;
}

void read_table(CompareCommand& command) {
  if (!command.words.table) return;
  require_choice("table", *command.words.table, words_of(kTableKinds));
  for (const TableKind kind : kTableKinds)
    if (*command.words.table == name_of(kind)) command.table = kind;
}

/// Throws UsageError where two outputs would mix on standard output.
void check_outputs(const CompareCommand& command) {
  const std::string* const paths[] = {&command.json, &command.csv, &command.markdown};
  const auto to_stdout = std::count_if(std::begin(paths), std::end(paths),
                                       [](const std::string* path) { return *path == "-"; });
  require(to_stdout <= 1,
          "--json, --csv, --markdown: one of them goes to standard output; write the others to "
          "files, e.g. --json=FILE");
  const std::string end = extension_of(command.in);
  require(end != "json" && end != "csv" && end != "md",
          "IN is a picture, not " + in_quotes(command.in) +
              "; a file to be written is joined by '=', e.g. --json=" + command.in);
  require_choice("chart", command.plot_kind, words_of(kPlotKinds));
}

/// "one from 1 to 1024".
template <class Number>
std::string text_of(const Bounds<Number>& bounds) {
  const auto shown = [](Number number) {
    char text[32];
    if constexpr (std::is_integral_v<Number>) return std::to_string(number);
    const auto fixed = std::chars_format::fixed;
    return std::string(text, std::to_chars(text, std::end(text), double(number), fixed).ptr);
  };
  if (bounds.most == std::numeric_limits<double>::max()) return "a finite one";
  return (bounds.above ? "one above " : "one from ") + shown(bounds.least) +
         (bounds.above ? " and up to " : " to ") + shown(bounds.most);
}

}  // namespace

template <class Number>
Number number_in(const std::string& option, const std::string& word, const Bounds<Number>& bounds) {
  const std::size_t sign = word.starts_with('+') ? 1 : 0;
  const char* end = word.data() + word.size();
  Number number{};
  const auto [stop, error] = std::from_chars(word.data() + sign, end, number);
  const bool fits = error == std::errc() && number >= bounds.least && number <= bounds.most &&
                    !(bounds.above && number == bounds.least);
  const bool is_number = (error == std::errc() || error == std::errc::result_out_of_range) &&
                         stop == end && number == number;
  require(fits && is_number, option + ": " + in_quotes(word) +
                                 (is_number                    ? " is out of range"
                                  : std::is_integral_v<Number> ? " is not a whole number"
                                                               : " is not a number") +
                                 "; give " + text_of(bounds));
  return number;
}

template int number_in(const std::string&, const std::string&, const Bounds<int>&);
template std::int64_t number_in(const std::string&, const std::string&,
                                const Bounds<std::int64_t>&);
template double number_in(const std::string&, const std::string&, const Bounds<double>&);

void check(BlurCommand& command, const Raw& raw) {
  complete(command.picture, raw);
}

void check(SharpenCommand& command, const Raw& raw) {
  complete(command.picture, raw);
}

void check(EdgeCommand& command, const Raw& raw) {
  complete(command.picture, raw);
}

void check(ApplyCommand& command, const Raw& raw) {
  complete(command.picture, raw);
}

void check(CompareCommand& command, const Raw& raw) {
  command.loudness = loudness_of(raw);
  read_table(command);
  if (!command.from.empty()) return check_outputs(command);
  complete_request(command.convolver.request, raw);
  complete_border(command.convolver, raw);
  complete_pitch(command.convolver, raw);
  complete_reading(command.read, raw);
  read_noise(command);
  read_masks(command);
  if (!command.table) command.table = TableKind::brief;
  check_outputs(command);
  require(!command.plot || !has_many_pictures(command), std::string("--plot: ") + kOnePicture);

  const Machine machine = this_machine();
  CompareOptions& compare = command.compare;
  compare.contenders = command.words.strategies
                           ? parse_contenders(*command.words.strategies, machine)
                           : all_contenders(machine);
  compare.device = command.convolver.request.device;
  compare.threads = command.convolver.request.threads;
  compare.padded_pitch = command.convolver.padded_pitch;
  compare.repeats = command.words.repeats.value_or(compare.repeats);
  compare.row_patience = command.words.patience;
  compare.reference_patience *= command.words.patience.value_or(1);
}

namespace {

constexpr int kMostCells = 400;      // of a table, which a person reads
constexpr int kTablePicture = 1024;  // the sides of its picture: whole tiles of most sizes

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
void read_tables(ExplainCommand& command) {
  ReuseTables& table = command.table;
  require(!table.words.empty() || (table.json.empty() && table.markdown.empty()),
          "--json, --markdown: they are for tables of reuse; add --table, e.g. --table "
          "tile=8,16,32 mask=5,9");
  if (table.words.empty()) return;
  std::string& strategy = command.convolver.request.strategy;
  const std::string none = Request().strategy;
  // The first words may have been taken for the strategy.
  if (strategy.find('=') != strategy.npos) table.words.push_back(std::exchange(strategy, none));
  for (const std::string& words : table.words) {
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

void check_tables(ExplainCommand& command, const Raw& raw) {
  const std::string& strategy = command.convolver.request.strategy;
  if (!command.table.overlap && strategy != Request().strategy) {
    Words names;
    for (const Strategy* each : strategies_with_reuse()) names.emplace_back(each->name);
    if (const Strategy* const known = find_strategy(strategy))
      require(std::ranges::find(names, strategy) != names.end(),
              "--table: there are no tables of " + strategy + ", because " + reuse_refusal(*known) +
                  "; there are those of " + listed(names));
    const std::string end = extension_of(strategy);
    require(end != "json" && end != "md",
            "--table: " + in_quotes(strategy) +
                " is no strategy; a file to be written is joined by '=', e.g. --" +
                (end == "md" ? "markdown=" : "json=") + strategy);
    require_choice("strategy with tables of reuse", strategy, names);
  }
  if (!raw.size) command.width = command.height = kTablePicture;
  const ReuseTables& table = command.table;
  require(table.json != "-" || table.markdown != "-",
          "--json, --markdown: both go to standard output; give one of them a file");
  for (const std::string& path : {table.json, table.markdown})
    if (!path.empty() && path != "-") check_writable(path);
}

}  // namespace

void check(ExplainCommand& command, const Raw& raw) {
  Request& request = command.convolver.request;
  read_tables(command);
  if (command.table.wanted()) {
    check_tables(command, raw);
  } else {
    Words names = strategy_names(this_machine());
    std::erase(names, Request().strategy);  // auto has no blocks of its own
    require(!request.strategy.empty() && request.strategy != Request().strategy,
            "explain what? Name a strategy: " + listed(names, "or"));
    require_choice("strategy", request.strategy, names);
  }
  complete_request(request, raw);
  complete_border(command.convolver, raw);
  find_architecture(command.architecture);
  command.sized = raw.size.has_value();
  if (raw.size) {
    const auto size = parse_sides(*raw.size);
    const auto fits = [](std::int64_t side) { return side >= 1 && side <= kMaxExplainedSide; };
    require(size && fits(size->width) && fits(size->height),
            "--size: " + in_quotes(*raw.size) + " is not a size; write WxH, each from 1 to " +
                std::to_string(kMaxExplainedSide));
    command.width = int(size->width);
    command.height = int(size->height);
  }
  if (raw.at) {
    const std::size_t comma = std::min(raw.at->find(','), raw.at->size());
    const auto number = [&](std::string_view word) {
      int value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      require(error == std::errc() && end == word.data() + word.size(),
              "--at: " + in_quotes(*raw.at) + " is no place; write X,Y, e.g. 100,60");
      return value;
    };
    const std::string_view place = *raw.at;
    command.at = {number(place.substr(0, comma)),
                  number(place.substr(std::min(comma + 1, place.size())))};
  }
  if (!raw.depth) return;
  require_choice("depth", *raw.depth, words_of(kDepths));
  for (Depth depth : kDepths)
    if (*raw.depth == name_of(depth)) command.depth = depth;
}

void check(TuneCommand& command, const Raw& raw) {
  command.loudness = loudness_of(raw);
  require(command.device != name_of(DeviceKind::emulator),
          "--device=emulator: its time says nothing about a GPU; tune measures cpu or cuda");
  check_names({.device = command.device}, this_machine());
}

void check(MaskCommand& command, const Raw& raw) {
  require_choice("action", command.action, words_of(kMaskActions));
  if (command.action == "show") {
    require(command.output != "-",
            "--output: the text goes to standard output; name a file, e.g. --output response.png");
    require(command.output.empty() || !extension_of(command.output).empty(),
            "--output: " + in_quotes(command.output) +
                " has no suffix that says the format; write e.g. " +
                in_quotes(command.output + ".png"));
    return;
  }
  check_names(command.request, this_machine());
  if (raw.size) {
    const Extent size = size_in(*raw.size, ReadOptions{}.max_pixels);
    command.width = int(size.width);
    command.height = int(size.height);
  }
  if (raw.depth) command.depths = named_in("--depth", *raw.depth, kDepths);
  if (raw.channels) command.channels = channels_in(*raw.channels);
}

void check(MergeCommand& command, const Raw& raw) {
  command.loudness = loudness_of(raw);
}

void check(TryCommand& command, const Raw&) {
  const auto sides = [](const char* option, const std::string& word, std::int64_t most,
                        bool is_launch) {
    std::optional<BlockSides> read = parse_launch_sides(word);
    if (!is_launch && read && (read->height == 0 || read->depth > 1)) read.reset();
    require(read && read->width >= 1 && read->width <= most && read->height <= most &&
                read->depth <= most,
            std::string(option) + ": two numbers up to " + std::to_string(most) +
                " with an x between, such as 16x16" + (is_launch ? ", or one for a row" : "") +
                "; not " + in_quotes(word));
    return *read;
  };
  if (command.words.block)
    command.launch.block = sides("--block", *command.words.block, 1024, true);
  if (command.words.outputs)
    command.launch.outputs = sides("--outputs", *command.words.outputs, 4096, true);
  if (command.words.mask_size)
    command.wish.size = sides("--mask-size", *command.words.mask_size, 101, false);
  if (!command.words.mode) return;
  require_choice("value of --mode", *command.words.mode, words_of(kTryModes));
  command.wish.is_valid = *command.words.mode == name_of(Mode::valid);
}

void check(GenerateCommand& command, const Raw&) {
  require_choice("thing to generate", command.what, words_of(kGenerated));
}

void check(ListCommand& command, const Raw&) {
  if (!command.topic.empty()) require_choice("topic", command.topic, words_of(kListTopics));
}

}  // namespace convfilt
