#include "app/grammar.hpp"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/checks.hpp"
#include "app/help.hpp"
#include "app/manual.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/sides.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/compare/plot.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

/// Options are bound to the structs that parse() fills; shared ones to Raw.
class Grammar {
 public:
  explicit Grammar(const CommandHelp& help);

  /// `choices` are for completion; check() has the last word.
  template <class Value>
  void positional(const char* name, Value& value, const char* description, bool required = true,
                  const Words& choices = {}) {
    choices_[app_.add_option(name, value, description)->required(required)->option_text(" ")] =
        choices;
  }

  /// `letter` stands for the value in help.
  template <class Value>
  CLI::Option* option(const char* group, const std::string& name, const char* letter, Value& value,
                      const std::string& description) {
    return bound(name, value, description)->type_name("value")->option_text(letter)->group(group);
  }

  /// An option whose values are a list, which help shows below its description.
  template <class Value>
  void choice(const char* group, const std::string& name, Value& value,
              const std::string& description, const Words& choices, const char* letter = "NAME") {
    choices_[option(group, name, letter, value, description + ":\n" + listed(choices, "or"))] =
        choices;
  }

  CLI::Option* flag(const char* group, const char* name, bool& value, const char* description);

  /// An option that may be given several times; `values` are replaced then.
  void repeated(const char* group, const char* name, const char* letter,
                std::vector<std::string>& values, const std::string& description);

  /// An option of one word or two.
  void listed_option(const char* group, const char* name, const char* letter,
                     std::vector<std::string>& values, const std::string& description);

  /// An option that may stand alone, which means standard output ("-"), or be joined to a file's
  /// name.
  void output(const char* group, const std::string& name, std::string& path,
              const std::string& description);

  void picture_files(PictureOptions& picture);
  void picture_options(PictureOptions& picture);
  void folder_options(PictureOptions& picture);
  void explain_options(ExplainCommand& command);
  void mask_options(MaskCommand& command);

  /// --device, --threads and --pitch.
  void device_options(Request& request);

  /// What is the same for all pictures that are read.
  void reading_options(const char* group, ReadOptions& read);

  /// --border and what goes with it; --mode.
  void border_options();

  /// One option for each setting that strategies have.
  void setting_options();

  /// -v and -q.
  void message_options();

  /// Declares --help and --version, which are answered before anything is parsed.
  void closing_options();

  std::string help() const;

  /// The same for the manual and for completion.
  CommandFacts facts(const CommandHelp& help) const;

  /// Throws UsageError where the words, or the defaults, do not fit. `defaults` are those taken.
  void parse(const Words& words, std::vector<Default>& defaults);

  const Raw& raw() const { return raw_; }

 private:
  /// Words that nothing has taken.
  Words left_over() const;
  void refuse_extras() const;

  /// Takes the names beyond the last positional argument, where the command has room for them.
  void take_more();

  /// The command's, without the program's.
  std::string own_name() const { return app_.get_name().substr(app_.get_name().find(' ') + 1); }

  /// Whether a file of defaults may set the option.
  bool by_file(const CLI::Option& option) const;

  /// Declares --config, and variables for options, where there are options to be set so.
  void defaults_options();

  /// Whether the words have the option, or one that any default of it would clash with.
  bool is_settled(const CLI::Option& option, const Words& words) const;

  /// Whether this default of the option clashes with what is said. The command line's `words` are
  /// in `said`, too; its settings, which have no variables, win over a strategy alone.
  bool clashes(const std::string& name, const std::string& value, const Words& words,
               const Words& said) const;

  /// The value that an argument or the last of the words gives the option.
  std::optional<std::string> value_in(const Words& words, const std::string& name) const;

  /// Whether the command, to which the words say all the rest, has a use for the option.
  bool is_usable(const std::string& name, const Words& words) const;

  /// What the file has for this command and neither the words nor the environment say.
  std::vector<CLI::ConfigItem> items_in(std::istream& file, const Words& words,
                                        std::vector<Default>& defaults) const;

  CLI::Option* bound(const std::string& name, std::string& value, const std::string& description) {
    return app_.add_option(name, value, description);
  }

  // CLI11 reads 010 as eight, so numbers arrive as words and number_in() reads them.
  template <class Value>
  CLI::Option* bound(const std::string& name, Value& value, const std::string& description) {
    return app_.add_option_function<std::string>(
        name, [name, &value](const std::string& word) { assign(name, word, value); }, description);
  }
  template <class Number>
  static void assign(const std::string& name, const std::string& word, Number& value) {
    value = number_in<Number>(name.c_str(), word);
  }
  template <class Number>
  static void assign(const std::string& name, const std::string& word,
                     std::optional<Number>& value) {
    if constexpr (std::is_same_v<Number, std::string>) {
      value = word;
    } else {
      value = number_in<Number>(name.c_str(), word);
    }
  }

  CLI::App app_;
  Raw raw_;
  std::map<const CLI::Option*, Words> choices_;
  std::vector<std::string>* more_ = nullptr;  ///< takes names beyond the positional arguments
  std::string other_defaults_;                ///< what sets options beside --config, for help
};

constexpr const char* kHow = "How to compute";
constexpr const char* kBorder = "Mask and border";
constexpr const char* kSettingGroup = "Settings of a strategy";
constexpr const char* kMessages = "Messages";
constexpr const char* kDefaults = "Defaults";

/// Options that say what a person or a machine always wants, so that an environment variable sets
/// them, too.
constexpr const char* kByVariable[] = {"--strategy", "--device",    "--threads",   "--pitch",
                                       "--border",   "--on-damage", "--max-pixels"};

/// Variables of ours begin like this, and some of them set no option.
constexpr std::string_view kOurs = "CONVFILT_";
constexpr const char* kOtherVariables[] = {"FILTERS", "PROFILES", "MODULES", "NVIMGCODEC"};

/// Defaults of the second count for nothing where the first is said, since they would clash with
/// it. The first is an option, with or without its value, an argument, or a command with its
/// action. What is said may stand on the command line. For lines of the file it may also come from
/// the environment, and for those lines that are for all commands from the command's own section.
const std::pair<const char*, Words> kSettles[] = {
    {"--box", {"--sigma"}},
    {"--sigma", {"--box"}},
    {"--verbose", {"--quiet"}},
    {"-v", {"--quiet"}},
    {"--quiet", {"--verbose"}},
    {"-q", {"--verbose"}},
    {"--mode=full", {"--border", "--border-value"}},
    {"IN", {"--size", "--depth", "--channels"}},
    {"mask show", {"--size", "--depth", "--channels", "--device"}},
    {"--from",
     {"--size", "--depth", "--channels", "--mask", "--masks", "--weights", "--strategies",
      "--repeats", "--patience", "--border", "--border-value", "--mode", "--device", "--threads",
      "--pitch", "--on-damage", "--max-pixels"}},
};

/// Leaves what stands in a file of defaults to a function.
class ConfigReader : public CLI::Config {
 public:
  using Read = std::function<std::vector<CLI::ConfigItem>(std::istream&)>;

  explicit ConfigReader(Read read) : read_(std::move(read)) {}
  std::vector<CLI::ConfigItem> from_config(std::istream& in) const override { return read_(in); }
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return ""; }

 private:
  Read read_;
};

// Grammar::output() tells CLI11 that the option may stand alone, and help what may follow it.
constexpr const char* kAlone = "{-}";
constexpr const char* kFile = "[=FILE]";

/// "--halo" and the like.
std::string option_name(Setting setting) {
  return "--" + std::string(info_of(setting).name);
}

Words setting_names() {
  Words names;
  for (const Setting setting : kSettings) names.push_back(option_name(setting));
  return names;
}

/// Names of the strategies that have a setting.
Words strategies_with(Setting setting) {
  Words names;
  for (const Strategy* strategy : this_machine().strategies)
    if (strategy->has(setting)) names.emplace_back(strategy->name);
  return names;
}

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

void Grammar::listed_option(const char* group, const char* name, const char* letter,
                            std::vector<std::string>& values, const std::string& description) {
  app_.add_option(name, values, description)
      ->expected(1, 2)
      ->type_name("value")
      ->option_text(letter)
      ->group(group);
}

void Grammar::output(const char* group, const std::string& name, std::string& path,
                     const std::string& description) {
  app_.add_flag(name + kAlone, path, description)->option_text(kFile)->group(group);
}

void Grammar::picture_files(PictureOptions& picture) {
  more_ = &picture.more;
  // With --files-from or -o there may be one name, or none; check() has the last word.
  positional("IN", picture.in, "Picture or folder to read; - is standard input", false);
  positional("OUT", picture.out,
             "Picture or folder to write; - is standard output,\nwith --format. With -o, this is "
             "one more IN, and so are\nmore words",
             false);
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

  const char* what = "What is filtered";
  flag(what, "--linear", picture.mapping.linear,
       "Linear light, by IN's colour profile or sRGB's curve");
  flag(what, "--luma", picture.mapping.luma, "Luma alone; edges are grey then");
  option(what, "--region", "X,Y,W,H", raw_.region, "These pixels alone; the rest stays as it was");
  choice(what, "--output", raw_.negative,
         "Responses below 0 (default clamp): 0; their size;\nhalf of each response, added to the "
         "middle",
         words_of(kNegatives));

  const char* files = "Files";
  option(files, "--format", "NAME", picture.write.format,
         "Format of OUT, e.g. png (default: by the end of its name)");
  option(files, "--quality", "Q", picture.write.quality,
         "0 to 100, for JPEG, WebP, HEIC, AVIF and JPEG XL (left\nout: a JPEG's as in IN, else 95; "
         "WebP and JPEG XL lossless)");
  choice(files, "--subsampling", raw_.subsampling,
         "Chroma of a JPEG (left out: as in IN, else 420)", words_of(kSubsamplings));
  flag(files, "--progressive", picture.write.progressive, "Write a progressive JPEG");
  option(files, "--compression", "N", picture.write.compression,
         "0, none, to 9, smallest: PNG and TIFF (left out: fast)");
  flag(files, "--strip", picture.write.strip,
       "Leave out metadata, such as places and dates;\nthe colour profile stays");
  flag(files, "--in-place", picture.in_place, "Allow OUT to be the same file as IN");
  reading_options(files, picture.read);

  folder_options(picture);
  setting_options();
  message_options();
}

void Grammar::folder_options(PictureOptions& picture) {
  const char* many = "Many pictures";
  FolderOptions& folder = picture.folder;
  Selection& selection = folder.selection;
  option(many, "-o,--out-folder", "FOLDER", raw_.out,
         "Where results go: all other names are inputs");
  flag(many, "-r,--recursive", selection.recursive, "Folders in folders, too; OUT mirrors them");
  repeated(many, "--glob", "PATTERN", selection.globs,
           "Files in folders by their names, such as '*.jpg';\nmay come several times (default: "
           "pictures' endings)");
  option(many, "--files-from", "FILE", selection.files_from,
         "Pictures from a list, a line each; - is standard input");
  flag(many, "-0,--null", selection.nul, "Names in that list end with NUL");
  flag(many, "--follow-links", selection.follow_links,
       "Links to folders, and to files elsewhere, too");
  option(many, "--name", "TEMPLATE", selection.name,
         "Names of results (default {stem}{ext}),\ne.g. {stem}_blur{ext}");
  choice(many, "--if-exists", raw_.if_exists, "What to do if a result is there (default overwrite)",
         words_of(kIfExists));
  flag(many, "--newer", folder.newer, "Just pictures that are newer than their results");
  flag(many, "--resume", folder.resume,
       "Just what an earlier run of the same command has not\ndone, by its journal in OUT");
  option(many, "--shard", "I/N", raw_.shard,
         "The I-th of N parts, from 1, for one of N machines;\nauto: by the variables of Slurm "
         "and other launchers,\nor auto/N where they say the index alone, as\nKubernetes does");
  choice(
      many, "--codec", raw_.codec,
      "Who reads and writes JPEGs (default auto): the CPU, or\nGPUs by nvImageCodec, which round "
      "in a way of their own;\nauto takes the CPU with --shard, so that shards agree",
      words_of(kCodecKinds));
  option(many, "--devices", "LIST", picture.devices,
         "CUDA devices to share the pictures: all, or numbers,\nsuch as 0,1 (default all)");
  flag(many, "--dry-run", picture.dry_run, "Say what would be done, and do nothing");
  flag(many, "--fail-fast", folder.schedule.fail_fast, "Begin no more after a failure");
  flag(many, "--json", picture.json,
       "A line of JSON for each picture on standard output,\ndone or not; names that are no UTF-8 "
       "stand there "
       "percent-encoded, too");
  flag(many, "--no-progress", raw_.no_progress, "No progress bar on a terminal");
  option(many, "--max-memory", "BYTES", raw_.max_memory,
         "For all pictures under way, such as 500M or 2G\n(default: no limit); an estimate where "
         "they are\nfiltered whole. Pipes go through a file in $TMPDIR,\nelse in /var/tmp");
}

void Grammar::reading_options(const char* group, ReadOptions& read) {
  choice(group, "--on-damage", raw_.on_damage, "What to do if IN is damaged (default fail)",
         words_of(kOnDamage));
  option(group, "--max-pixels", "N", read.max_pixels,
         "Refuse a picture of more pixels (default 2^29)");
  option(group, "--page", "N", read.page, "Of a file with several pictures, from 0 (default 0)");
  choice(group, "--loader", raw_.loader,
         "Who reads and writes files: each format's own library,\nor OpenCV (default auto)",
         words_of(kLoaders));
}

void Grammar::device_options(Request& request) {
  choice(kHow, "--device", request.device, "Where to compute", device_names());
  option(kHow, "--threads", "N", raw_.threads, "CPU threads, 1 to 1024 (default: all cores)");
  choice(kHow, "--pitch", raw_.pitch, "Rows in GPU memory (default padded)", words_of(kPitches));
}

void Grammar::explain_options(ExplainCommand& command) {
  const char* what = "What is explained";
  option(what, "--mask", "M", command.mask, "WxH, a text file, or a name (default 5x5, or 3x3)");
  option(what, "--size", "WxH", raw_.size,
         "The picture's size (default 200x120, or twice and four\ntimes that for large blocks)");
  choice(what, "--depth", raw_.depth, "The depth of its samples (default u8)", words_of(kDepths));
  choice(what, "--arch", command.architecture, "GPU that holds the blocks (default sm_90)",
         words_of(architectures()));
  option(what, "--picture", "FILE", command.picture,
         "Draw it too, with what threads load and compute, to an .svg or a .png");
  const char* tables = "Tables of reuse, by formula alone";
  listed_option(tables, "--table", "LISTS", command.table.words,
                "Tiles beside masks, in one dimension and in two, of\nSTRATEGY or all that tile: "
                "tile=8,16,32,64 mask=5,9\n(--depth f32, --size 1024x1024 if nothing is said)");
  output(tables, "--json", command.table.json, "As JSON, instead of the tables, or to FILE");
  output(tables, "--markdown", command.table.markdown, "As Markdown, likewise");
  border_options();
  setting_options();
}

void Grammar::mask_options(MaskCommand& command) {
  const char* checked = "For check";
  option(checked, "--size", "WxH", raw_.size,
         "Size of the picture that auto is asked about\n(default 1920x1080)");
  choice(checked, "--depth", raw_.depth, "Depths of its samples, commas between (default: each)",
         words_of(kDepths), "LIST");
  option(checked, "--channels", "N", raw_.channels, "1, or 3 for colour (default 3)");
  choice(checked, "--device", command.request.device, "Where to compute", device_names());
  option("For show", "--output", "FILE", command.output,
         "A picture of the response instead of the drawing");
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
  defaults_options();
}

bool Grammar::by_file(const CLI::Option& option) const {
  // Nothing is replaced, and no file written, that the command line does not name.
  const std::string text = option.get_option_text();
  const bool names_file = text == "FILE" || text == "FOLDER" || text == kFile;
  return !option.get_positional() && !names_file && !option.check_lname("help") &&
         !option.check_lname("version") && !option.check_lname("in-place");
}

void Grammar::defaults_options() {
  const std::vector<CLI::Option*> options = app_.get_options();
  if (std::none_of(options.begin(), options.end(), [&](auto* option) { return by_file(*option); }))
    return;
  std::string variables;
  for (const char* name : kByVariable) {
    CLI::Option* option = app_.get_option_no_throw(name);
    if (!option) continue;
    option->envname(variable_of(name));
    variables += (variables.empty() ? "" : ", ") + option->get_envname();
  }
  app_.set_config("--config", users_config(), "The file of defaults, instead of your own")
      ->type_name("value")
      ->option_text("FILE")
      ->group(kDefaults);
  other_defaults_ = (variables.empty() ? "" : "  Environment             " + variables + "\n") +
                    "  ~/.config/convfilt/config.toml\n"
                    "                          Your own file, in $XDG_CONFIG_HOME if that is set: "
                    "lines such as border = \"reflect\"; those below [" +
                    own_name() +
                    "] are for this command. Options win over the environment, and it wins over "
                    "the file.\n";
}

bool Grammar::is_settled(const CLI::Option& option, const Words& words) const {
  const auto given = [&](const std::string& name) {
    const CLI::Option* asked = app_.get_option_no_throw(name);
    if (asked && asked->get_positional()) return asked->count() > 0;
    const auto end = std::find(words.begin(), words.end(), "--");
    const std::string* before = nullptr;
    return std::any_of(words.begin(), end, [&](const std::string& word) {
      const bool joined = before && *before + "=" + word == name;
      before = &word;
      return joined || word == name || word.starts_with(name + "=") ||
             own_name() + " " + word == name;
    });
  };
  const std::string name = "--" + option.get_lnames().front();
  return given(name) || std::any_of(std::begin(kSettles), std::end(kSettles), [&](const auto& s) {
           return std::ranges::count(s.second, name) > 0 && given(s.first);
         });
}

std::optional<std::string> Grammar::value_in(const Words& words, const std::string& name) const {
  const CLI::Option* asked = app_.get_option_no_throw(name);
  if (asked && asked->get_positional())
    return asked->count() > 0 ? std::optional(asked->results().front()) : std::nullopt;
  std::optional<std::string> value;
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end; ++word) {
    if (word->starts_with(name + "="))
      value = word->substr(name.size() + 1);
    else if (*word == name && word + 1 != end)
      value = word[1];
  }
  return value;
}

bool Grammar::is_usable(const std::string& name, const Words& words) const {
  if (name == "--border-value") return value_in(words, "--border") == name_of(Border::constant);
  if (name == "--weights") return value_in(words, "--masks").has_value();
  if (own_name() == "edge" && (name == "--sigma" || name == "--direction")) {
    const std::string said = value_in(words, "--method").value_or(EdgeOptions{}.method);
    const auto method = std::ranges::find(kEdgeMethods, said, &EdgeMethod::name);
    return method == std::end(kEdgeMethods) ||
           (name == "--sigma" ? method->first.empty() : !method->second.empty());
  }
  for (const Setting setting : kSettings) {
    if (name != option_name(setting)) continue;
    const auto strategy =
        value_in(words, own_name() == "explain" ? "STRATEGY" : "--strategy").value_or("");
    const Words owners = strategies_with(setting);
    return std::ranges::count(owners, strategy) > 0;
  }
  return true;
}

bool Grammar::clashes(const std::string& name, const std::string& value, const Words& words,
                      const Words& said) const {
  const auto apart = [](const std::string& strategy, const std::string& device) {
    const Strategy* known = this_machine().find(strategy);
    const std::string kind = device.substr(0, device.find(':'));
    const Words names = device_names();
    return known && kind != Request{}.device && std::ranges::count(names, kind) > 0 &&
           std::ranges::count(devices_of(*known), kind) == 0;
  };
  if (name == "--device") return apart(value_in(said, "--strategy").value_or(""), value);
  if (name == "--strategy" && apart(value, value_in(said, "--device").value_or("auto")))
    return true;
  if (name == "--mode" && value == name_of(Mode::full))
    return value_in(said, "--border").value_or("constant") != name_of(Border::constant) ||
           value_in(said, "--border-value").value_or("0") != "0";
  const std::pair<std::string, Words> uses[] = {
      {"--strategy", setting_names()},
      {"--method", {"--sigma", "--direction"}},
  };
  Words with = words;
  with.insert(with.begin(), name + "=" + value);
  return std::ranges::any_of(uses, [&](const auto& use) {
    return use.first == name && std::ranges::any_of(use.second, [&](const std::string& used) {
             return value_in(words, used) && !is_usable(used, with);
           });
  });
}

std::vector<CLI::ConfigItem> Grammar::items_in(std::istream& file, const Words& words,
                                               std::vector<Default>& defaults) const {
  const CLI::Option* config = app_.get_option("--config");
  const std::string path = config->count() > 0 ? config->results().front() : users_config();
  const std::vector<CommandFacts> commands = command_facts();
  const std::string own = own_name();

  std::map<std::string, std::vector<ConfigLine>> taken;  // by key
  for (const ConfigLine& line : config_lines(file, path)) {
    Words sections, known, unsettable;
    for (const CommandFacts& command : commands) {
      bool any = false;
      for (const ArgumentFacts& option : command.options) {
        const std::string key = option.names.back().substr(2);
        any = any || option.by_file;
        if (!line.section.empty() && line.section != command.name) continue;
        (option.by_file ? known : unsettable).push_back(key);
      }
      if (any) sections.push_back(command.name);
    }
    if (!line.section.empty() && !std::ranges::count(sections, line.section))
      fail_at(path, line.number, unknown_name("section", line.section, sections));
    if (line.key.empty()) continue;
    if (std::ranges::count(unsettable, line.key) && !std::ranges::count(known, line.key))
      fail_at(path, line.number,
              in_quotes(line.key) + " belongs on the command line: write --" + line.key + " there");
    if (!std::ranges::count(known, line.key)) {
      const std::string text = unknown_name("option", line.key, known);
      fail_at(path, line.number,
              text.find("did you mean") != text.npos
                  ? text
                  : "unknown option " + in_quotes(line.key) + "; convfilt " +
                        (line.section.empty() ? "COMMAND" : line.section) + " --help lists them");
    }
    const CLI::Option* option = app_.get_option_no_throw("--" + line.key);
    if (!option || !(line.section.empty() || line.section == own)) continue;
    std::vector<ConfigLine>& lines = taken[line.key];
    if (!lines.empty() && lines.front().section == line.section &&
        option->get_items_expected_max() == 1)
      fail_at(path, line.number,
              in_quotes(line.key) + " stands in line " + std::to_string(lines.front().number) +
                  " already; keep one of the two");
    // What stands in the command's section comes later, and wins.
    if (!lines.empty() && lines.front().section != line.section) lines.clear();
    lines.push_back(line);
  }

  Words said = words;  // and what the environment and the command's section say
  const auto say = [&](const std::string& option, const std::string& value) {
    said.insert(said.begin(), option + "=" + value);
  };
  for (const Default& variable : defaults) say(variable.option, variable.value);
  const std::size_t variables = defaults.size();
  const Words said_outside = said;
  for (const auto& [key, lines] : taken)
    if (!lines.front().section.empty()) say("--" + key, lines.front().value);

  std::erase_if(taken, [&](const auto& entry) {
    const auto& [key, lines] = entry;
    const CLI::Option& option = *app_.get_option("--" + key);
    const bool is_flag = option.get_items_expected_max() == 0;
    for (const ConfigLine& line : lines)
      if (is_flag && line.value != "true" && line.value != "false")
        fail_at(path, line.number,
                in_quotes(key) + " is true or false, not " + in_quotes(line.value));
    const Words& before = lines.front().section.empty() ? said : said_outside;
    return is_settled(option, before) || clashes("--" + key, lines.front().value, words, before) ||
           (is_flag && lines.front().value == "false");
  });
  for (const auto& [key, lines] : taken) say("--" + key, lines.front().value);

  std::vector<CLI::ConfigItem> items;
  for (const auto& [key, lines] : taken) {
    if (!is_usable("--" + key, said)) continue;
    CLI::ConfigItem item;
    item.name = key;
    for (const ConfigLine& line : lines) {
      item.inputs.push_back(line.value);
      defaults.push_back({"--" + key, line.value,
                          printable_name(path) + ":" + std::to_string(line.number), line.number});
    }
    items.push_back(std::move(item));
  }
  std::stable_sort(defaults.begin() + std::ptrdiff_t(variables), defaults.end(),
                   [](const Default& a, const Default& b) { return a.line < b.line; });
  return items;
}

// CLI11 leaves two blank lines between groups and one at the end, and shows a flag's default.
std::string Grammar::help() const {
  std::string text = app_.help();
  for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  while (text.ends_with("\n\n")) text.pop_back();
  text += other_defaults_;  // right below --config
  const std::string shown = std::string(kAlone) + " " + kFile, wanted = kFile;
  for (std::size_t at; (at = text.find(shown)) != std::string::npos;)
    text.replace(at, shown.size(), wanted + std::string(shown.size() - wanted.size(), ' '));
  return text;
}

CommandFacts Grammar::facts(const CommandHelp& help) const {
  CommandFacts command{
      std::string(help.name), std::string(help.summary), std::string(help.examples), {}, {},
      more_ != nullptr};
  for (const CLI::Option* option : app_.get_options()) {
    ArgumentFacts argument;
    argument.group = option->get_group();
    argument.description = option->get_description();
    std::replace(argument.description.begin(), argument.description.end(), '\n', ' ');
    if (const auto known = choices_.find(option); known != choices_.end())
      argument.choices = known->second;
    // A shell would offer the N of cuda:N, which stands for a number, as if it were one.
    std::erase_if(argument.choices, [](const std::string& word) { return word.ends_with(":N"); });
    argument.required = option->get_required();
    if (option->get_positional()) {
      argument.names = {option->get_name()};
      argument.value = option->get_name();
      command.positionals.push_back(std::move(argument));
      continue;
    }
    argument.repeats = option->get_items_expected_max() > 1;
    argument.by_file = by_file(*option);
    argument.variable = option->get_envname();
    for (const std::string& name : option->get_snames()) argument.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) argument.names.push_back("--" + name);
    argument.joined = option->get_option_text() == kFile;
    argument.value = argument.joined                    ? "FILE"
                     : option->get_option_text() == " " ? ""
                                                        : option->get_option_text();
    command.options.push_back(std::move(argument));
  }
  return command;
}

/// Throws IoError where a file of defaults is there and must not be opened, or cannot be. `given`
/// is the value of --config. The command-line library reports a missing file that was given, but
/// passes over a user's own file that it cannot read, and opening a pipe would wait for somebody to
/// write.
void check_config(const std::optional<std::string>& given) {
  const std::string path = given.value_or(users_config());
  const std::string name = (given ? "--config: '" : "'") + printable_name(path) + "'";
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (path == "/dev/null" || kind == std::filesystem::file_type::none ||
      kind == std::filesystem::file_type::not_found)
    return;
  if (kind == std::filesystem::file_type::directory)
    throw IoError(name + " is a folder, where a file of defaults is expected; " +
                  (given ? "name a file" : "move it away"));
  if (kind != std::filesystem::file_type::regular)
    throw IoError(name + " is not a regular file, as a file of defaults is; " +
                  (given ? "name one, or /dev/null for none" : "move it away"));
  if (::access(path.c_str(), R_OK) != 0)
    throw IoError(name + " cannot be read; check whose it is" + (given ? "" : ", or remove it"));
}

/// Warns of variables that set nothing: a name that is nearly one of ours, and that of an option
/// which has no variable. Scripts have others of their own, so the rest is left alone.
void warn_of_variables() {
  Words found;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::size_t sign = text.find('=');
    if (text.starts_with(kOurs) && sign != text.npos && sign + 1 < text.size())
      found.emplace_back(text.substr(kOurs.size(), sign - kOurs.size()));
  }
  Words known(std::begin(kOtherVariables), std::end(kOtherVariables));
  for (const char* option : kByVariable) known.push_back(variable_of(option).substr(kOurs.size()));
  std::erase_if(found,
                [&](const std::string& name) { return std::ranges::count(known, name) > 0; });
  if (found.empty()) return;
  std::ranges::sort(found);
  Words options;
  for (const CommandFacts& command : command_facts())
    for (const ArgumentFacts& option : command.options)
      if (option.by_file) options.push_back(option.names.back());
  for (const std::string& name : found) {
    const std::string variable = std::string(kOurs) + name;
    const auto option = std::ranges::find(options, variable, variable_of);
    if (option != options.end())
      log_warning(variable + " sets nothing, since " + *option +
                  " has no variable; give the option, or write it in the file of defaults");
    else if (const std::string near = nearest(name, known); !near.empty())
      log_warning(variable + " sets nothing; did you mean '" + std::string(kOurs) + near + "'?");
  }
}

void Grammar::parse(const Words& words, std::vector<Default>& defaults) {
  for (CLI::Option* option : app_.get_options()) {
    if (option->get_envname().empty()) continue;
    const char* value = std::getenv(option->get_envname().c_str());
    const std::string name = "--" + option->get_lnames().front();
    if (is_settled(*option, words) || (value && clashes(name, value, words, words)))
      option->envname("");
    else if (value && *value)
      defaults.push_back({name, value, option->get_envname()});
  }
  // Some versions of the command-line library take several files.
  const auto files = std::count_if(
      words.begin(), std::find(words.begin(), words.end(), "--"),
      [](const std::string& word) { return word.substr(0, word.find('=')) == "--config"; });
  if (files > 1)
    throw UsageError("--config is given " + std::to_string(files) + " times; give it once");
  if (app_.get_option_no_throw("--config")) check_config(value_in(words, "--config"));
  app_.config_formatter(std::make_shared<ConfigReader>(
      [&](std::istream& file) { return items_in(file, words, defaults); }));
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
  } catch (const CLI::FileError&) {
    const std::string path = app_.get_option("--config")->results().front();
    throw IoError("--config: cannot read '" + printable_name(path) +
                  "'; check its name and folder");
  } catch (const CLI::ParseError&) {
    // All values arrive as words and are checked here, so only a flag's can be wrong.
    for (const std::string& word : words)
      if (const std::size_t end = word.find('='); word.starts_with("-") && end != word.npos)
        throw UsageError(in_quotes(word) + ": " + word.substr(0, end) +
                         " takes no value; write it alone");
    throw UsageError("the options cannot be understood" + help);
  }
  refuse_extras();
  take_more();
  if (more_ && app_.get_option("--files-from")->count() == 0) {
    const bool has_out = app_.get_option("--out-folder")->count() > 0;
    for (const char* name : {"IN", "OUT"})
      if (app_.get_option(name)->count() == 0 && !(has_out && std::string(name) == "OUT"))
        throw UsageError(std::string(name) + " is missing" + help);
  }
  if (app_.get_option_no_throw("--config") && !raw_.quiet) warn_of_variables();
}

Words Grammar::left_over() const {
  Words left = app_.remaining();
  std::erase(left, "--");  // it did its work
  if (more_) std::erase_if(left, [](const std::string& word) { return !word.starts_with("-"); });
  return left;
}

void Grammar::take_more() {
  if (!more_) return;
  for (const std::string& word : app_.remaining())
    if (!word.starts_with("-")) more_->push_back(word);
}

/// Throws UsageError where words were left over: misspelt options, and superfluous names.
void Grammar::refuse_extras() const {
  Words left = left_over();
  if (left.empty()) return;
  if (!left[0].starts_with("-"))
    throw UsageError("unexpected argument " + in_quotes(left[0]) + "; " + app_.get_name() +
                     " --help shows what it takes");
  Words known;
  for (const CLI::Option* option : app_.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::string word = left[0].substr(0, left[0].find('='));
  const std::string text = unknown_name("option", word, known);
  // The list of all options is longer than an error may be.
  throw UsageError(text.find("did you mean") != std::string::npos
                       ? text
                       : "unknown option " + in_quotes(word) + "; " + app_.get_name() +
                             " --help lists them");
}

void declare(Grammar& grammar, BlurCommand& command) {
  grammar.picture_files(command.picture);
  grammar.option("Blur", "--sigma", "S", command.sigma,
                 "The Gaussian's, in pixels, above 0 to 128 (default 2)");
  grammar.option("Blur", "--box", "N", command.box, "A box of side N instead, 1 to 1025");
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, SharpenCommand& command) {
  grammar.picture_files(command.picture);
  grammar.option("Sharpen", "--amount", "A", command.amount, "How much, from 0 (default 1)");
  grammar.option("Sharpen", "--sigma", "S", command.sigma,
                 "Size of the details to sharpen, in pixels, above 0 to 128\n(default 1)");
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, EdgeCommand& command) {
  grammar.picture_files(command.picture);
  grammar.choice("Edge", "--method", command.edge.method, "Default sobel", words_of(kEdgeMethods));
  grammar.option("Edge", "--sigma", "S", command.edge.sigma,
                 "For --method=log, in pixels (default 1.4)");
  grammar.choice("Edge", "--direction", command.edge.direction, "Changes along (default both)",
                 words_of(kDirections));
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, ApplyCommand& command) {
  grammar.positional("MASK", command.mask, "A text file, or a name (convfilt list filters)");
  grammar.picture_files(command.picture);
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, CompareCommand& command) {
  grammar.positional("IN", command.in, "Picture to filter; - is standard input (default: noise)",
                     false);
  const char* what = "What to compare";
  grammar.repeated(what, "--mask", "MASK", command.masks,
                   "A file, a filter's name, or WxH for a\nGaussian with sigma side/6; may come "
                   "several times\n(default 3x3, 9x9 and 31x31)");
  grammar.option(what, "--masks", "LIST", command.words.masks,
                 "Random masks by their sides: 3,5x7,31");
  grammar.choice(what, "--weights", command.words.weights,
                 "For --masks, commas between (default 16bit)", words_of(kWeights), "LIST");
  grammar.option(
      what, "--strategies", "LIST", command.words.strategies,
      "Names, commas between, with settings:\nbasic,tiled-out:tile=16:halo=two-step\n(default: "
      "all)");
  grammar.option(what, "--size", "LIST", command.words.size,
                 "The noise's size, WxH, commas between\n(default 2048x2048)");
  grammar.choice(what, "--depth", command.words.depth,
                 "The noise's depth, commas between (default u8)", words_of(kDepths), "LIST");
  grammar.option(what, "--channels", "LIST", command.words.channels,
                 "The noise's channels, 1, 3 or both, a comma\nbetween (default 1)");
  grammar.option(what, "--repeats", "N", command.words.repeats,
                 "Runs a row, at most (default 21); fewer, but 3,\nwhere they take longer than "
                 "patience lasts, and one on\na GPU where that alone does");
  grammar.option(
      what, "--patience", "S", command.words.patience,
      "Seconds for a row's runs (default 1); off the GPU, if\none takes longer, a piece "
      "of the picture is run.\nFour times as long for the bytes to hold results against");
  grammar.reading_options(what, command.read);
  grammar.border_options();
  grammar.device_options(command.convolver.request);

  const char* outputs = "Results";
  grammar.option(
      outputs, "--from", "FILE", command.from,
      "Measure nothing: take what an earlier run wrote\nwith --json=FILE, e.g. to draw it");
  for (const auto& [name, path, text] :
       {std::tuple{"--json", &command.json, "As JSON, instead of the table, or to FILE"},
        std::tuple{"--csv", &command.csv, "As CSV, a line a row, likewise"},
        std::tuple{"--markdown", &command.markdown, "As Markdown, likewise"}})
    grammar.output(outputs, name, *path, text);
  grammar.choice(outputs, "--table", command.words.table,
                 "All figures, or a column a mask (default brief\nfor several pictures or --masks)",
                 words_of(kTableKinds));
  grammar.option(outputs, "--plot", "FILE", command.plot, "A chart, .svg or .png; needs gnuplot");
  grammar.choice(outputs, "--plot-kind", command.plot_kind, "What it shows (default bars)",
                 words_of(kPlotKinds));
  grammar.message_options();
}

void declare(Grammar& grammar, ExplainCommand& command) {
  grammar.positional("STRATEGY", command.convolver.request.strategy,
                     "Way to convolve (convfilt list strategies)", false,
                     strategy_names(this_machine()));
  grammar.explain_options(command);
}

void declare(Grammar& grammar, TuneCommand& command) {
  const char* what = "What to measure";
  grammar.option(what, "--device", "NAME", command.device,
                 "auto: the CPU, and the GPU if there is one (default);\ncpu: no GPU; cuda:1: that "
                 "GPU");
  grammar.flag(what, "--quick", command.quick, "Fewer masks and runs, in about half the time");
  grammar.option(what, "--output", "FILE", command.output,
                 "Where the profile goes; - is standard output\n(default: your own profiles, which "
                 "auto reads first)");
  grammar.message_options();
}

void declare(Grammar& grammar, MaskCommand& command) {
  grammar.positional(
      "ACTION", command.action,
      "check: size, sum, rank, exactness, what auto takes;\nshow: weights and response", true,
      words_of(kMaskActions));
  grammar.positional("MASK", command.mask, "A text file, or a name (convfilt list filters)");
  grammar.mask_options(command);
}

void declare(Grammar& grammar, MergeCommand& command) {
  grammar.positional("OUT", command.out, "The folder of the results");
  grammar.message_options();
}

void declare(Grammar& grammar, TryCommand& command) {
  grammar.positional("KERNEL", command.kernel, "A .cu file with one __global__ function");
  const char* how = "How it is launched";
  grammar.option(
      how, "--block", "WxH", command.words.block,
      "Threads of a block (default: as the file says,\n// launch: block 16x16); 256 alone: "
      "in a row, for as\nmany outputs of the picture, one after the other");
  grammar.option(how, "--outputs", "WxH", command.words.outputs,
                 "Outputs that a block computes, which say how many\nblocks there are (default: as "
                 "the file says, else one\nfor each thread)");
  grammar.option(how, "--shared", "BYTES", command.launch.shared_bytes,
                 "Dynamic shared memory of a block (default 0)");
  grammar.flag(
      how, "--clear-out", command.launch.clears_out,
      "The host sets out to 0 before, as kernels need that\nadd to it (default: out is unset)");
  const char* what = "What it is tried with";
  grammar.option(what, "--mask", "MASK", command.mask,
                 "A text file, or a name (default: random weights)");
  grammar.option(
      what, "--mask-size", "WxH", command.words.mask_size,
      "Of random weights (default: that of the __constant__\narray, else 5x5, or another "
      "for which the kernel is\nright; several where it is told the size)");
  grammar.option(what, "--device", "NAME", command.device,
                 "auto: on the host, and on a GPU where one and nvcc\nare there (default); cpu: on "
                 "the host alone;\ncuda, cuda:1: on that GPU, too");
  grammar.flag(what, "--json", command.json, "The verdict as JSON on standard output");
}

void declare(Grammar& grammar, ListCommand& command) {
  grammar.positional("TOPIC", command.topic, "strategies, filters or devices (default: all)", false,
                     words_of(kListTopics));
}

void declare(Grammar& grammar, GenerateCommand& command) {
  grammar.positional("WHAT", command.what, "man, bash, zsh or fish", true, words_of(kGenerated));
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

/// Whether one of the words up to "--" is `name`.
bool asks(const Words& words, const char* name) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, name) != end;
}

template <class OneCommand>
Command parse_as(const CommandHelp& help, const Words& words, std::vector<Default>& defaults) {
  OneCommand command;
  Grammar grammar(help);
  declare(grammar, command);
  grammar.closing_options();
  if (asks(words, "-h") || asks(words, "--help")) return Answer{grammar.help()};
  if (asks(words, "--version")) return Answer{version_text()};
  refuse_dashed_names(words);
  grammar.parse(words, defaults);
  check(command, grammar.raw());
  if (grammar.raw().verbose) set_loudness(Loudness::verbose);
  for (const Default& d : defaults) log_detail(d.option + "=" + d.value + " by " + d.where);
  return command;
}

template <class OneCommand>
CommandFacts facts_of(std::string_view name) {
  const CommandHelp& help = *std::ranges::find(command_helps(), name, &CommandHelp::name);
  OneCommand command;
  Grammar grammar(help);
  declare(grammar, command);
  grammar.closing_options();
  return grammar.facts(help);
}

}  // namespace

std::vector<CommandFacts> command_facts() {
  return {facts_of<BlurCommand>("blur"),       facts_of<SharpenCommand>("sharpen"),
          facts_of<EdgeCommand>("edge"),       facts_of<ApplyCommand>("apply"),
          facts_of<CompareCommand>("compare"), facts_of<ExplainCommand>("explain"),
          facts_of<TuneCommand>("tune"),       facts_of<MaskCommand>("mask"),
          facts_of<MergeCommand>("merge"),     facts_of<TryCommand>("try"),
          facts_of<ListCommand>("list"),       facts_of<GenerateCommand>("generate")};
}

Command parse(int argc, const char* const* argv, std::vector<Default>& defaults) {
  const Words words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) throw UsageError(short_help());
  const std::string& name = words[0];
  const Words rest(words.begin() + 1, words.end());
  for (const CommandHelp& help : command_helps()) {
    if (help.name != name) continue;
    if (name == "blur") return parse_as<BlurCommand>(help, rest, defaults);
    if (name == "sharpen") return parse_as<SharpenCommand>(help, rest, defaults);
    if (name == "edge") return parse_as<EdgeCommand>(help, rest, defaults);
    if (name == "apply") return parse_as<ApplyCommand>(help, rest, defaults);
    if (name == "compare") return parse_as<CompareCommand>(help, rest, defaults);
    if (name == "explain") return parse_as<ExplainCommand>(help, rest, defaults);
    if (name == "tune") return parse_as<TuneCommand>(help, rest, defaults);
    if (name == "mask") return parse_as<MaskCommand>(help, rest, defaults);
    if (name == "merge") return parse_as<MergeCommand>(help, rest, defaults);
    if (name == "try") return parse_as<TryCommand>(help, rest, defaults);
    if (name == "generate") return parse_as<GenerateCommand>(help, rest, defaults);
    return parse_as<ListCommand>(help, rest, defaults);
  }
  if (name == "help" && rest.size() == 1) {
    const char* const asked[] = {argv[0], argv[2], "--help"};
    return parse(3, asked, defaults);
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
