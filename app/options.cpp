#include "options.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <string>

#include "checks.hpp"
#include "errors.hpp"
#include "formats.hpp"
#include "help.hpp"
#include "nearest.hpp"
#include "source_text.hpp"
#include "suggest.hpp"

namespace convfilt {
namespace {

/// One command's grammar. Adding options binds them to the structs that parse() fills.
class Grammar {
 public:
  explicit Grammar(const CommandHelp& help)
      : app_(std::string(help.examples), "convfilt " + std::string(help.name)) {
    app_.set_help_flag();
    app_.allow_extras();  // so that a misspelt option gets the nearest name
    app_.get_formatter()->column_width(26);
    app_.get_formatter()->label("Positionals", "Arguments");
  }

  template <class Value>
  void positional(const char* name, Value& value, const char* description, bool required = true) {
    app_.add_option(name, value, description)->required(required)->option_text(" ");
  }

  /// `letter` stands for the value in help.
  template <class Value>
  CLI::Option* option(const char* group, const char* name, const char* letter, Value& value,
                      const std::string& description) {
    return bound(name, value, description)->type_name("value")->option_text(letter)->group(group);
  }

  /// An option whose values are a list, which help shows below its description.
  template <class Value>
  void choice(const char* group, const char* name, Value& value, const std::string& description,
              const Words& choices) {
    option(group, name, "NAME", value, description + ":\n" + listed(choices, "or"));
  }

  CLI::Option* flag(const char* group, const char* name, bool& value, const char* description) {
    return app_.add_flag(name, value, description)->option_text(" ")->group(group);
  }

  void picture_files(PictureOptions& picture) {
    positional("IN", picture.in, "Picture to read; - is standard input");
    positional("OUT", picture.out, "Picture to write; - is standard output, with --format");
  }

  void picture_options(PictureOptions& picture) {
    Request& request = picture.convolver.request;
    const char* how = "How to compute";
    choice(how, "--strategy", request.strategy, "Way to convolve (convfilt list strategies)",
           strategy_names(this_machine()));
    choice(how, "--device", request.device, "Where to compute", device_names());
    option(how, "--threads", "N", raw_.threads, "CPU threads, 1 to 1024 (default: all cores)");
    choice(how, "--pitch", raw_.pitch, "Rows in GPU memory (default padded)", words_of(kPitches));

    const char* what = "Mask and border";
    choice(what, "--border", raw_.border, "What lies outside the picture (default replicate)",
           words_of(kBorders));
    option(what, "--border-value", "V", raw_.border_value,
           "Sample value outside, with --border=constant (default 0)");
    flag(what, "--flip", picture.flip, "Turn the mask by 180 degrees: true convolution");
    flag(what, "--normalize", picture.normalize,
         "Scale the weights to sum to 1 (edge masks: the positive ones)");

    const char* files = "Files";
    option(files, "--format", "NAME", picture.write.format,
           "Format of OUT, e.g. png (default: by the end of its name)");
    option(files, "--quality", "Q", picture.write.quality,
           "0 to 100, for JPEG and WebP (left out: JPEG 95, WebP lossless)");
    flag(files, "--in-place", picture.in_place, "Allow OUT to be the same file as IN");
    choice(files, "--on-damage", raw_.on_damage, "What to do if IN is damaged (default fail)",
           words_of(kOnDamage));
    option(files, "--max-pixels", "N", picture.read.max_pixels,
           "Refuse a picture of more pixels (default 2^29)");

    flag(kMessages, "-v,--verbose", raw_.verbose, "Say what ran where, why, and how long");
    flag(kMessages, "-q,--quiet", raw_.quiet, "Say nothing but errors");
  }

  /// Declares --help and --version, which are answered before anything is parsed.
  void closing_options() {
    flag(kMessages, "-h,--help", raw_.answered, "Print this text");
    flag(kMessages, "--version", raw_.answered, "Print the version");
  }

  /// CLI11 leaves two blank lines between groups and one at the end.
  std::string help() const {
    std::string text = app_.help();
    for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
  }

  void parse(const Words& words) {
    const std::string help = "; " + app_.get_name() + " --help shows what it takes";
    try {
      app_.parse(Words(words.rbegin(), words.rend()));
    } catch (const CLI::RequiredError& error) {
      refuse_extras();  // an unknown option's value may stand where a name is missing
      const std::string text = error.what();  // "OUT is required"
      throw UsageError(text.substr(0, text.find(' ')) + " is missing" + help);
    } catch (const CLI::ArgumentMismatch& error) {
      const std::string text = error.what();
      const std::string name = text.substr(0, text.find(':'));
      const auto times = std::count_if(words.begin(), words.end(), [&](const std::string& word) {
        return word.substr(0, word.find('=')) == name;
      });
      throw UsageError(times > 1
                           ? name + " is given " + std::to_string(times) + " times; give it once"
                           : name + ": its value is missing" + help);
    } catch (const CLI::ParseError&) {
      // All values arrive as words and are checked here, so only a flag's can be wrong.
      for (const std::string& word : words)
        if (const std::size_t end = word.find('='); word.starts_with("-") && end != word.npos)
          throw UsageError(convfilt::quoted(word) + ": " + word.substr(0, end) +
                           " takes no value; write it alone");
      throw UsageError("the options cannot be understood" + help);
    }
    refuse_extras();
  }

  const Raw& raw() const { return raw_; }

 private:
  static constexpr const char* kMessages = "Messages";

  /// Throws UsageError where words were left over: misspelt options, and names too many.
  void refuse_extras() const {
    Words left = app_.remaining();
    std::erase(left, "--");  // it did its work
    if (left.empty()) return;
    if (!left[0].starts_with("-"))
      throw UsageError("unexpected argument " + convfilt::quoted(left[0]) + "; " + app_.get_name() +
                       " --help shows what it takes");
    Words known;
    for (const CLI::Option* option : app_.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    const std::string word = left[0].substr(0, left[0].find('='));
    const std::string text = unknown_name("option", word, known);
    // The list of all options is longer than an error may be.
    throw UsageError(text.find("did you mean") != std::string::npos
                         ? text
                         : "unknown option " + convfilt::quoted(word) + "; " + app_.get_name() +
                               " --help lists them");
  }

  CLI::Option* bound(const char* name, std::string& value, const std::string& description) {
    return app_.add_option(name, value, description);
  }

  // CLI11 reads 010 as eight.
  template <class Value>
  CLI::Option* bound(const char* name, Value& value, const std::string& description) {
    return app_.add_option_function<std::string>(
        name, [name, &value](const std::string& word) { assign(name, word, value); }, description);
  }
  template <class Number>
  static void assign(const char* name, const std::string& word, Number& value) {
    value = number_in<Number>(name, word);
  }
  template <class Number>
  static void assign(const char* name, const std::string& word, std::optional<Number>& value) {
    value = number_in<Number>(name, word);
  }

  CLI::App app_;
  Raw raw_;
};

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

void check(ListCommand& command, const Raw&) {
  if (!command.topic.empty()) require_choice("topic", command.topic, words_of(kListTopics));
}

/// Throws UsageError where a picture's name looks like an option.
void refuse_dashed_names(const Words& words) {
  for (const std::string& word : words) {
    if (word == "--") return;
    if (word.starts_with("-") && find_format(extension_of(word)))
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
