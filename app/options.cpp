#include "app/options.hpp"

#include <algorithm>
#include <string>

#include "app/checks.hpp"
#include "app/compare_options.hpp"
#include "app/grammar.hpp"
#include "app/help.hpp"
#include "src/base/errors.hpp"
#include "src/base/nearest.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

void declare(Grammar& grammar, BlurCommand& command) {
  grammar.picture_files(command.picture);
  grammar.option("Blur", "--sigma", "S", command.sigma, "Of the Gaussian, in pixels (default 2)");
  grammar.option("Blur", "--box", "N", command.box, "A box of side N instead, 1 to 1025");
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, SharpenCommand& command) {
  grammar.picture_files(command.picture);
  grammar.option("Sharpen", "--amount", "A", command.amount, "How much, from 0 (default 1)");
  grammar.option("Sharpen", "--sigma", "S", command.sigma,
                 "Size of the details to sharpen, in pixels (default 1)");
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, EdgeCommand& command) {
  grammar.picture_files(command.picture);
  grammar.choice("Edge", "--method", command.edge.method, "Default sobel", words_of(kEdgeMethods));
  grammar.option("Edge", "--sigma", "S", command.edge.sigma,
                 "Of --method=log, in pixels (default 1.4)");
  grammar.choice("Edge", "--direction", command.edge.direction, "Changes along (default both)",
                 words_of(kDirections));
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, ApplyCommand& command) {
  grammar.positional("MASK", command.mask, "A text file, or a name (convfilt list filters)");
  grammar.picture_files(command.picture);
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, ExplainCommand& command) {
  grammar.positional("STRATEGY", command.convolver.request.strategy,
                     "Way to convolve (convfilt list strategies)", false);
  grammar.explain_options(command);
}

void declare(Grammar& grammar, TuneCommand& command) {
  const char* what = "What to measure";
  grammar.option(what, "--device", "NAME", command.device,
                 "auto: the CPU, and the GPU if there is one (default);\ncpu: no GPU; cuda:1: that "
                 "GPU");
  grammar.flag(what, "--quick", command.quick, "Fewer masks and runs: a minute instead of four");
  grammar.option(what, "--output", "FILE", command.output,
                 "Where the profile goes; - is standard output\n(default: your own profiles, which "
                 "auto reads first)");
  grammar.message_options();
}

void declare(Grammar& grammar, ListCommand& command) {
  grammar.positional("TOPIC", command.topic, "strategies, filters or devices (default: all)",
                     false);
}

void check(BlurCommand& command, const Raw& raw) {
  require(!(command.box && command.sigma), "--sigma, --box: a blur has one of the two");
  complete(command.picture, raw);
}

template <class PictureCommand>
void check(PictureCommand& command, const Raw& raw) {
  complete(command.picture, raw);
}

void check(ApplyCommand& command, const Raw& raw) {
  require(!command.mask.empty(), "MASK is empty: name a file or a filter");
  complete(command.picture, raw);
}

void check(ExplainCommand& command, const Raw& raw) {
  complete(command, raw);
}

void check(TuneCommand& command, const Raw& raw) {
  command.loudness = loudness_of(raw);
  require(command.device != name_of(DeviceKind::emulator),
          "--device=emulator: its time says nothing about a GPU; tune measures cpu or cuda");
  check_names({.device = command.device}, this_machine());
}

void check(ListCommand& command, const Raw&) {
  if (!command.topic.empty()) require_choice("topic", command.topic, words_of(kListTopics));
}

/// Throws UsageError where a picture's name looks like an option.
void refuse_dashed_names(const Words& words) {
  for (const std::string& word : words) {
    if (word == "--") return;
    const bool has_value = word.find('=') != word.npos;  // --plot=out.png is an option
    if (word.starts_with("-") && !has_value && find_format(extension_of(word)))
      throw UsageError(convfilt::quoted(word) +
                       " begins with '-', as options do; if it is a picture, write " +
                       convfilt::quoted("./" + word));
  }
}

/// Whether one of the words up to "--" is `name`.
bool asks(const Words& words, const char* name) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, name) != end;
}

template <class OneCommand>
Command parse_as(const CommandHelp& help, const Words& words) {
  OneCommand command;
  Grammar grammar(help);
  declare(grammar, command);
  grammar.closing_options();
  if (asks(words, "-h") || asks(words, "--help")) return Answer{grammar.help()};
  if (asks(words, "--version")) return Answer{version_text()};
  refuse_dashed_names(words);
  grammar.parse(words);
  check(command, grammar.raw());
  return command;
}

}  // namespace

Command parse(int argc, const char* const* argv) {
  const Words words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) throw UsageError(short_help());
  const std::string& name = words[0];
  const Words rest(words.begin() + 1, words.end());
  for (const CommandHelp& help : command_helps()) {
    if (help.name != name) continue;
    if (name == "blur") return parse_as<BlurCommand>(help, rest);
    if (name == "sharpen") return parse_as<SharpenCommand>(help, rest);
    if (name == "edge") return parse_as<EdgeCommand>(help, rest);
    if (name == "apply") return parse_as<ApplyCommand>(help, rest);
    if (name == "compare") return parse_as<CompareCommand>(help, rest);
    if (name == "explain") return parse_as<ExplainCommand>(help, rest);
    if (name == "tune") return parse_as<TuneCommand>(help, rest);
    return parse_as<ListCommand>(help, rest);
  }
  if (name == "help" && rest.size() == 1) {
    const char* const asked[] = {argv[0], argv[2], "--help"};
    return parse(3, asked);
  }
  if (name == "-h" || name == "--help" || name == "help") return Answer{general_help()};
  if (name == "--version") return Answer{version_text()};
  if (const Words own = {"--help", "--version"};
      name.starts_with("-") && !nearest(name, own).empty())
    throw UsageError(unknown_name("option", name, own));
  if (name.starts_with("-"))
    throw UsageError("the command comes first, then its options: convfilt COMMAND " + name);
  throw UsageError(unknown_name("command", name, words_of(command_helps())));
}

}  // namespace convfilt
