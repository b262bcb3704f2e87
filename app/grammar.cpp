#include "app/grammar.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

constexpr const char* kHow = "How to compute";
constexpr const char* kBorder = "Mask and border";
constexpr const char* kSettingGroup = "Settings of a strategy";
constexpr const char* kMessages = "Messages";

// Of Grammar::output(): what the option means alone, in CLI11's words, and what may follow it.
constexpr const char* kAlone = "{-}";
constexpr const char* kFile = "[=FILE]";

/// "--halo" and its likes.
std::string option_name(Setting setting) {
  return "--" + std::string(info_of(setting).name);
}

/// Names of the strategies that have a setting.
Words strategies_with(Setting setting) {
  Words names;
  for (const Strategy* strategy : this_machine().strategies)
    if (strategy->has(setting)) names.emplace_back(strategy->name);
  return names;
}

}  // namespace

Grammar::Grammar(const CommandHelp& help)
    : app_(std::string(help.examples), "convfilt " + std::string(help.name)) {
  app_.set_help_flag();
  app_.allow_extras();  // so that a misspelt option gets the nearest name
  app_.get_formatter()->column_width(26);
  app_.get_formatter()->label("Positionals", "Arguments");
}

CLI::Option* Grammar::flag(const char* group, const char* name, bool& value,
                           const char* description) {
  return app_.add_flag(name, value, description)->option_text(" ")->group(group);
}

void Grammar::repeated(const char* group, const char* name, const char* letter,
                       std::vector<std::string>& values, const std::string& description) {
  app_.add_option(name, values, description)
      ->allow_extra_args(false)
      ->type_name("value")
      ->option_text(letter)
      ->group(group);
}

void Grammar::output(const char* group, const std::string& name, std::string& path,
                     const std::string& description) {
  app_.add_flag(name + kAlone, path, description)->option_text(kFile)->group(group);
}

void Grammar::picture_files(PictureOptions& picture) {
  positional("IN", picture.in, "Picture to read; - is standard input");
  positional("OUT", picture.out, "Picture to write; - is standard output, with --format");
}

void Grammar::picture_options(PictureOptions& picture) {
  Request& request = picture.convolver.request;
  choice(kHow, "--strategy", request.strategy, "Way to convolve (convfilt list strategies)",
         strategy_names(this_machine()));
  device_options(request);
  border_options();
  flag(kBorder, "--flip", picture.flip, "Turn the mask by 180 degrees: true convolution");
  flag(kBorder, "--normalize", picture.normalize,
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

  setting_options();
  message_options();
}

void Grammar::device_options(Request& request) {
  choice(kHow, "--device", request.device, "Where to compute", device_names());
  option(kHow, "--threads", "N", raw_.threads, "CPU threads, 1 to 1024 (default: all cores)");
  choice(kHow, "--pitch", raw_.pitch, "Rows in GPU memory (default padded)", words_of(kPitches));
}

void Grammar::explain_options(ExplainCommand& command) {
  const char* what = "What is explained";
  option(what, "--mask", "M", command.mask, "WxH, a text file, or a name (default 5x5, or 3x3)");
  option(what, "--size", "WxH", raw_.size, "Of the picture (default 200x120)");
  choice(what, "--depth", raw_.depth, "Of its samples (default u8)", words_of(kDepths));
  choice(what, "--arch", command.architecture, "GPU that holds the blocks (default sm_90)",
         words_of(architectures()));
  option(what, "--picture", "FILE", command.picture, "Draw it too, to an .svg or a .png");
  border_options();
  setting_options();
}

void Grammar::border_options() {
  choice(kBorder, "--border", raw_.border, "What lies outside the picture (default replicate)",
         words_of(kBorders));
  option(kBorder, "--border-value", "V", raw_.border_value,
         "Sample value outside, with --border=constant (default 0)");
  choice(
      kBorder, "--mode", raw_.mode,
      "Which outputs (default same): the picture's; only\nthose whose mask lies inside; all that "
      "the mask\ntouches, with 0 outside",
      words_of(kModes));
}

void Grammar::setting_options() {
  for (Setting setting : kSettings) {
    const Words owners = strategies_with(setting);
    if (owners.empty()) continue;
    const SettingInfo& info = info_of(setting);
    const std::string text = std::string(info.summary) + ", of " + listed(owners);
    std::optional<std::string>& word = raw_.settings[std::size_t(setting)];
    if (info.words.empty()) {
      option(kSettingGroup, option_name(setting), "N", word,
             text + ":\n" + std::to_string(info.lowest) + " to " + std::to_string(info.highest) +
                 " (default: by its own rule)");
    } else {
      choice(kSettingGroup, option_name(setting), word, text, words_of(info.words));
    }
  }
}

void Grammar::message_options() {
  flag(kMessages, "-v,--verbose", raw_.verbose, "Say what ran where, why, and how long");
  flag(kMessages, "-q,--quiet", raw_.quiet, "Say nothing but errors");
}

void Grammar::closing_options() {
  flag(kMessages, "-h,--help", raw_.answered, "Print this text");
  flag(kMessages, "--version", raw_.answered, "Print the version");
}

// CLI11 leaves two blank lines between groups and one at the end, and shows a flag's default.
std::string Grammar::help() const {
  std::string text = app_.help();
  for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  while (text.ends_with("\n\n")) text.pop_back();
  const std::string shown = std::string(kAlone) + " " + kFile, wanted = kFile;
  for (std::size_t at; (at = text.find(shown)) != std::string::npos;)
    text.replace(at, shown.size(), wanted + std::string(shown.size() - wanted.size(), ' '));
  return text;
}

void Grammar::parse(const Words& words) {
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

/// Throws UsageError where words were left over: misspelt options, and names too many.
void Grammar::refuse_extras() const {
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

}  // namespace convfilt
