#include "app/grammar/grammar.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "app/grammar/commands.hpp"
#include "app/grammar/filters.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

/// A command that is no filter.
struct OtherCommand {
  CommandHelp help;
  void (*declare)(Binder& binder, Command& command);
};

template <class OneCommand>
void declare_as(Binder& binder, Command& command) {
  declare(binder, command.emplace<OneCommand>());
}

const OtherCommand kOthers[] = {
    {{"compare", "Every way to convolve, beside each other: speed, reads, exactness",
      "Compare ways to convolve, on a picture or on noise: how fast they are, against\n"
      "what the device could do, and how right.\n",
      "  convfilt compare                             every strategy, some masks, noise\n"
      "  convfilt compare photo.jpg --mask 9x9 --mask emboss3\n"
      "  convfilt compare --strategies basic,tiled-out:tile=16,auto --depth f32\n"
      "  convfilt compare --size 1920x1080,8192x8192 --depth u8,f32 --masks 3,7,15\n"
      "  convfilt compare --json=all.json --plot bars.svg     the table, too\n"
      "  convfilt compare --markdown >table.md\n",
      "Without a GPU, its kernels are counted in the emulator instead of timed.\n"},
     declare_as<CompareCommand>},
    {{"explain", "What one block of a strategy does, in numbers and as a picture",
      "Explain what one block of a strategy does, checked against the counts of the\n"
      "emulator; or show the textbook's tables of reuse, or of ways to overlap blocks.\n",
      "  convfilt explain tiled-in --mask 5x5 --tile 16\n"
      "  convfilt explain tiled-out --mask 9x9 --size 1920x1080 --arch sm_89\n"
      "  convfilt explain tiled-in --mask 5x5 --size 64x44 --picture tiles.svg --at 0,0\n"
      "  convfilt explain --table tile=8,16,32,64 mask=5,9\n"
      "  convfilt explain --table overlap --mask 9x9\n"
      "  convfilt explain in-parts --mask 36x1 --size 60x1 --part 6 --block 12 --mode full --flip\n"},
     declare_as<ExplainCommand>},
    {{"tune", "Measure this machine, so that auto takes what is fastest on it",
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
     declare_as<TuneCommand>},
    {{"mask", "What a mask is: size, sum, rank, exactness, weights, response",
      "Check a mask: its size, sum, rank and factors, whether its weights are exact,\n"
      "and what auto takes for it. Or show its weights, and how strongly it passes\n"
      "waves of each frequency.\n",
      "  convfilt mask check my-mask.txt\n"
      "  convfilt mask check gaussian7 --size 8192x8192 --depth u16\n"
      "  convfilt mask show sobel_x\n"
      "  convfilt mask show log5 --output log5-response.png\n"},
     declare_as<MaskCommand>},
    {{"merge", "Whether the results of several machines are whole",
      "Join the journals that runs with --shard left in the folder of their results,\n"
      "and report which pictures are missing, have failed or were done twice, and which\n"
      "were kept as they were there, so that other options may have made them.\n",
      "  convfilt blur photos/ out/ --shard 1/2           on one machine\n"
      "  convfilt blur photos/ out/ --shard 2/2           on another\n"
      "  convfilt merge out/\n"},
     declare_as<MergeCommand>},
    {{"try", "A kernel of your own: is it right, and if not, what is wrong",
      "Run a convolution kernel, written in plain CUDA C++, on pictures of many sizes,\n"
      "and report what is wrong with it, and in which line.\n",
      "  convfilt try samples/kernels/tiled_in.cu         installed: in share/convfilt\n"
      "  convfilt try my_kernel.cu --block 16x16 --outputs 12x12\n"
      "  convfilt try my_kernel.cu --mode valid --tolerance 0.001\n"
      "  convfilt try my_kernel.cu --json\n",
      "On the host, which needs no GPU, every access to memory is watched; on a GPU the\n"
      "kernel is also timed beside our strategies. The file has one __global__ function.\n"
      "Only the launch is read of main() and other functions for the host, and only where\n"
      "no comment gives it:\n\n"
      "  // launch: block 20x20, a block for each 16x16 outputs\n"
      "  __constant__ float F[5][5];    // the mask, or else a parameter float* mask\n"
      "  __global__ void filter(float* in, float* out, int width, int height)\n\n"
      "Samples are floats, weights apply as they stand, and ghost cells are 0, or outputs\n"
      "lie only where the whole mask lies inside (\"valid\"). A kernel with a width but no\n"
      "height filters lines; one with a depth filters volumes, and its mask is a cube; one\n"
      "with channels gets three. Parameters are known by their names, in any order: the\n"
      "mask's side may be one (int mask_width, int mask_height), or its radius (int r).\n"
      "Where names tell nothing, the output is what is written to, and two numbers are\n"
      "width and height. Templates take what the launch gives, else their defaults. Out\n"
      "holds any values when the kernel begins, unless --clear-out makes the host set it\n"
      "to 0, or the comment does: // launch: block 16x16, out cleared\n"
      "The compiler is c++, or what CXX names; for the GPU nvcc, or what NVCC names.\n\n"
      "A run ends after 10 s of a processor's time. The kernel runs with your rights: no\n"
      "sandbox keeps it from your files, so graders try others' kernels in a container.\n\n"
      "Exit codes: 0 it is right; 1 it is wrong, or not compiled; 2 the command line is\n"
      "wrong; 3 there is no verdict, as the file or a compiler is missing. --json prints\n"
      "an object with a \"status\" in all cases but 2: right, wrong, refused,\n"
      "not_compiled or error.\n"},
     declare_as<TryCommand>},
    {{"list", "Strategies, filters, masks and devices to choose from",
      "List what there is to choose from.\n",
      "  convfilt list\n"
      "  convfilt list masks\n"
      "  convfilt list devices                        which GPU, or why there is none\n"},
     declare_as<ListCommand>},
    {{"generate", "The manual page, or completions for a shell",
      "Print the manual page, or a script by which a shell completes options and their\n"
      "values. An installed convfilt has brought them along.\n",
      "  convfilt generate man >convfilt.1\n"
      "  convfilt generate bash >~/.local/share/bash-completion/completions/convfilt\n"
      "  convfilt generate fish >~/.config/fish/completions/convfilt.fish\n"},
     declare_as<GenerateCommand>},
};

std::vector<const CommandHelp*> helps() {
  std::vector<const CommandHelp*> all;
  for (const FilterLine& line : filters()) all.push_back(&line.help);
  for (const OtherCommand& other : kOthers) all.push_back(&other.help);
  return all;
}

/// Binds all that the command of this name takes to an empty command.
void bind(Binder& binder, std::string_view name, Command& command) {
  for (const FilterLine& line : filters())
    if (line.help.name == name) {
      FilterCommand& filter = command.emplace<FilterCommand>();
      filter.line = &line;
      declare(binder, filter);
    }
  for (const OtherCommand& other : kOthers)
    if (other.help.name == name) other.declare(binder, command);
  binder.close();
}

/// Throws UsageError where a picture's name looks like an option.
void refuse_dashed_names(const Words& words) {
  for (const std::string& word : words) {
    if (word == "--") return;
    const bool has_value = word.find('=') != word.npos;  // --plot=out.png is an option
    if (word.starts_with("-") && !has_value && find_format(extension_of(word)))
      throw UsageError(in_quotes(word) +
                       " begins with '-', as options do; if it is a picture, write " +
                       in_quotes("./" + word));
  }
}

/// Whether one of the words up to "--" is the option.
bool asks(const Words& words, const char* option) {
  return std::any_of(words.begin(), std::ranges::find(words, "--"), [&](const std::string& word) {
    return word.substr(0, word.find('=')) == option;
  });
}

/// Whether a word has an h that is joined with any of these flags, as in -qh. It does not matter
/// what else is wrong.
bool asks_for_screen(const Words& words, const std::string& flags) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto has_h = [&](const std::string& word) {
    const std::size_t h = word.starts_with("-") ? word.find_first_not_of(flags, 1) : word.npos;
    // In -h.png and the like h begins a name.
    return h != word.npos && word[h] == 'h' &&
           std::all_of(word.begin() + std::ptrdiff_t(h), word.end(), is_letter);
  };
  return std::any_of(words.begin(), std::ranges::find(words, "--"), has_h);
}

/// The short names of the command's flags, but for the h of --help.
std::string letters_of_flags(const CommandFacts& command) {
  std::string letters;
  for (const ArgumentFacts& option : command.options)
    if (option.value.empty() && option.names.front() != "-h" && option.names.front().size() == 2)
      letters += option.names.front()[1];
  return letters;
}

Command parse_as(const CommandHelp& help, const Words& words, std::vector<Default>& defaults) {
  Command command;
  Binder binder(help, command_facts);
  bind(binder, help.name, command);
  const CommandFacts facts = binder.facts();
  if (asks(words, "--help")) return Answer{help_text(facts, true)};
  if (asks_for_screen(words, letters_of_flags(facts))) return Answer{help_text(facts, false)};
  if (asks(words, "--version")) return Answer{version_text()};
  refuse_dashed_names(words);
  binder.parse(words, defaults);
  for (const Default& d : defaults) log_detail(d.option + "=" + d.value + " by " + d.where);
  return command;
}

}  // namespace

std::vector<CommandFacts> command_facts() {
  std::vector<CommandFacts> all;
  for (const CommandHelp* help : helps()) {
    Command command;
    Binder binder(*help, command_facts);
    bind(binder, help->name, command);
    all.push_back(binder.facts());
  }
  return all;
}

Command parse(int argc, const char* const* argv, std::vector<Default>& defaults) {
  const Words words(argv + std::min(argc, 1), argv + argc);
  const std::vector<const CommandHelp*> commands = helps();
  if (words.empty()) throw UsageError(short_help(commands));
  const std::string& name = words[0];
  const Words rest(words.begin() + 1, words.end());
  for (const CommandHelp* help : commands)
    if (help->name == name) return parse_as(*help, rest, defaults);
  if (name == "help" && rest.size() == 1) {
    const char* const asked[] = {argv[0], argv[2], "--help"};
    return parse(3, asked, defaults);
  }
  std::string flags;
  for (const CommandFacts& facts : command_facts()) flags += letters_of_flags(facts);
  if (name == "help" ||
      (name.starts_with("-") && (asks(words, "--help") || asks_for_screen(words, flags))))
    return Answer{general_help(commands)};
  if (name == "--version") return Answer{version_text()};
  if (const Words own = {"--help", "--version"};
      name.starts_with("-") && !nearest(name, own).empty())
    throw UsageError(unknown_name("option", name, own));
  if (name.starts_with("-"))
    throw UsageError("the command comes first, then its options: convfilt COMMAND " + name);
  Words names;
  for (const CommandHelp* help : commands) names.emplace_back(help->name);
  throw UsageError(unknown_name("command", name, names));
}

}  // namespace convfilt
