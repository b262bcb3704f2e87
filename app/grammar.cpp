#include "app/grammar.hpp"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // what App.hpp declares of it is linked
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/checks.hpp"
#include "app/clashes.hpp"
#include "app/help.hpp"
#include "app/manual.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/sides.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/compare/plot.hpp"
#include "src/lesson/kernel_file.hpp"
#include "src/mask/make.hpp"
#include "src/picture/formats.hpp"

namespace convfilt {
namespace {

/// Options are bound to the structs that parse() fills; shared ones to Raw.
class Grammar {
  template <class Number>
  using NumberOf = typename decltype(std::optional(std::declval<Number>()))::value_type;

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
  template <class Word>
  CLI::Option* option(const char* group, const std::string& name, const char* letter, Word& value,
                      const std::string& description) {
    return shown(app_.add_option(name, value, description), group, letter);
  }

  /// An option that takes numbers within these bounds. CLI11 reads 010 as eight, so numbers arrive
  /// as words and number_in() reads them.
  template <class Number>
  void number(const char* group, const std::string& name, const char* letter, Number& value,
              const std::string& description, const Bounds<NumberOf<Number>>& bounds) {
    const auto read = [name, &value, bounds](const std::string& word) {
      value = number_in(name, word, bounds);
    };
    shown(app_.add_option_function<std::string>(name, read, description), group, letter);
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

  /// Throws UsageError if options exclude each other, or lack what they need.
  void check_pairs() const;

  const Raw& raw() const { return raw_; }

 private:
  /// Takes the command line alone.
  void read(const Words& words);

  /// The values that arguments and options have by now.
  Values values() const;

  /// Takes the defaults that are not set on the command line and go together with it.
  void take(std::vector<Default>& defaults);

  /// Those that variables of the environment set.
  std::vector<Default> variables() const;

  /// The lines of the file of defaults that are for this command, whether or not they are used.
  std::vector<ConfigLine> config() const;

  static CLI::Option* shown(CLI::Option* option, const char* group, const char* letter) {
    return option->type_name("value")->option_text(letter)->group(group);
  }

  /// Words that nothing has taken.
  Words left_over() const;
  void refuse_extras() const;

  /// Throws UsageError where a value or a name is empty: no option and no argument has a use for
  /// that, and in scripts it stands for a variable that is not set.
  void refuse_empty() const;

  /// Takes the names beyond the last positional argument, where the command has room for them.
  void take_more();

  /// The command's, without the program's.
  std::string own_name() const { return app_.get_name().substr(app_.get_name().find(' ') + 1); }

  /// Whether a file of defaults may set the option.
  bool by_file(const CLI::Option& option) const;

  /// Declares --config, and variables for options, where there are options to be set so.
  void defaults_options();

  CLI::App app_;
  Raw raw_;
  std::map<const CLI::Option*, Words> choices_;
  std::vector<std::string>* more_ = nullptr;  ///< takes names beyond the positional arguments
  std::string config_;                        ///< the value of --config
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

// Grammar::output() tells CLI11 that the option may stand alone, and help what may follow it.
constexpr const char* kAlone = "{-}";
constexpr const char* kFile = "[=FILE]";

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
  number(files, "--quality", "Q", picture.write.quality,
         "0 to 100, for JPEG, WebP, HEIC, AVIF and JPEG XL (left\nout: a JPEG's as in IN, else 95; "
         "WebP and JPEG XL lossless)",
         {0, 100});
  choice(files, "--subsampling", raw_.subsampling,
         "Chroma of a JPEG (left out: as in IN, else 420)", words_of(kSubsamplings));
  flag(files, "--progressive", picture.write.progressive, "Write a progressive JPEG");
  number(files, "--compression", "N", picture.write.compression,
         "0, none, to 9, smallest: PNG and TIFF (left out: fast)", {0, 9});
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
  number(group, "--max-pixels", "N", read.max_pixels,
         "Refuse a picture of more pixels (default 2^29)", {.least = 1});
  number(group, "--page", "N", read.page, "Of a file with several pictures, from 0 (default 0)",
         {});
  choice(group, "--loader", raw_.loader,
         "Who reads and writes files: each format's own library,\nor OpenCV, which finds less "
         "damage (default auto)",
         words_of(kLoaders));
}

void Grammar::device_options(Request& request) {
  choice(kHow, "--device", request.device, "Where to compute", device_names());
  number(kHow, "--threads", "N", raw_.threads, "CPU threads, 1 to 1024 (default: all cores)",
         {1, 1024});
  choice(kHow, "--pitch", raw_.pitch, "Rows in GPU memory (default padded)", words_of(kPitches));
}

void Grammar::explain_options(ExplainCommand& command) {
  const char* what = "What is explained";
  option(what, "--mask", "M", command.mask, "WxH, a text file, or a name (default 5x5, or 3x3)");
  option(what, "--size", "WxH", raw_.size,
         "The picture's size (default 200x120, or twice and four\ntimes that for large blocks)");
  choice(what, "--depth", raw_.depth,
         "The depth of its samples (default f32, as in the books,\nor u8 if STRATEGY takes no f32)",
         words_of(kDepths));
  choice(what, "--arch", command.architecture, "GPU that holds the blocks (default sm_90)",
         words_of(architectures()));
  option(what, "--picture", "FILE", command.picture,
         "Draw it too, with what threads load and compute, to an .svg or a .png");
  option(what, "--at", "X,Y", raw_.at,
         "Draw the block that computes output X,Y, from 0 on\n(default: one in the middle)");
  const char* tables = "Tables, by formula alone";
  listed_option(
      tables, "--table", "LISTS", command.table.words,
      "Reuse: tiles beside masks, in one dimension and in two,\nof STRATEGY or all that "
      "tile: tile=8,16,32,64 mask=5,9.\nOr overlap: overlap-discard beside overlap-add for "
      "one\n--mask, also with --block, --part and --domain.\n(By default --size 1024x1024)");
  output(tables, "--json", command.table.json, "As JSON, instead of the tables, or to FILE");
  output(tables, "--markdown", command.table.markdown, "As Markdown, likewise");
  border_options();
  flag(kBorder, "--flip", command.flip, "Turn the mask by 180 degrees: true convolution");
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
  number(kBorder, "--border-value", "V", raw_.border_value,
         "Sample value outside, with --border=constant (default 0)",
         {.least = std::numeric_limits<double>::lowest()});
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
  for (const char* name : kByVariable)
    if (app_.get_option_no_throw(name))
      variables += (variables.empty() ? "" : ", ") + variable_of(name);
  option(kDefaults, "--config", "FILE", config_, "The file of defaults, instead of your own");
  other_defaults_ = (variables.empty() ? "" : "  Environment             " + variables + "\n") +
                    "  ~/.config/convfilt/config.toml\n"
                    "                          Your own file, in $XDG_CONFIG_HOME if that is set: "
                    "lines such as border = \"reflect\"; those below [" +
                    own_name() +
                    "] are for this command. Options win over the environment, and it wins over "
                    "the file. An empty variable counts as not set.\n";
}

/// Throws IoError if a file of defaults exists and cannot be opened, or must not be: opening a pipe
/// waits for its writer. `is_given` says whether --config names the file.
void check_config(const std::string& path, bool is_given) {
  const std::string name = (is_given ? "--config: '" : "'") + printable_name(path) + "'";
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (path == "/dev/null" || kind == std::filesystem::file_type::none ||
      kind == std::filesystem::file_type::not_found)
    return;
  if (kind == std::filesystem::file_type::directory)
    throw IoError(name + " is a folder, where a file of defaults is expected; " +
                  (is_given ? "name a file" : "move it away"));
  if (kind != std::filesystem::file_type::regular)
    throw IoError(name + " is not a regular file, as a file of defaults is; " +
                  (is_given ? "name one, or /dev/null for none" : "move it away"));
  if (::access(path.c_str(), R_OK) != 0)
    throw IoError(name + " cannot be read; check whose it is" + (is_given ? "" : ", or remove it"));
}

/// "--border" for -b,--border and the like.
std::string long_name(const CLI::Option& option) {
  return "--" + option.get_lnames().front();
}

bool is_flag(const CLI::Option& option) {
  return !option.get_positional() && option.get_option_text() == " ";
}

Values Grammar::values() const {
  Values values;
  for (const CLI::Option* option : app_.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_positional() ? option->get_name() : long_name(*option);
    values[name == "STRATEGY" ? "--strategy" : name] =
        is_flag(*option) ? (option->as<bool>() ? "true" : "false") : option->results().back();
  }
  // A border has a value only if it is constant, so that is what a value alone asks for.
  if (values.contains("--border-value")) values.try_emplace("--border", name_of(Border::constant));
  return values;
}

std::vector<Default> Grammar::variables() const {
  std::vector<Default> found;
  for (const CLI::Option* option : app_.get_options()) {
    const std::string name = option->get_positional() ? "" : long_name(*option);
    if (!std::ranges::count(kByVariable, name)) continue;
    const std::string variable = variable_of(name);
    const char* value = std::getenv(variable.c_str());
    if (value && *value) found.push_back({name, value, variable});
  }
  return found;
}

std::string about_empty_value(const std::string& name) {
  return name + " is empty; give it a value" + (name.starts_with("-") ? ", or leave it out" : "") +
         " (in a script: is a variable not set?)";
}

std::vector<ConfigLine> Grammar::config() const {
  const bool is_given = app_.get_option("--config")->count() > 0;
  const std::string path = is_given ? config_ : users_config();
  check_config(path, is_given);
  std::ifstream file(path);
  if (!file && is_given)
    throw IoError("--config: cannot read '" + printable_name(path) +
                  "'; check its name and folder");
  if (!file) return {};

  const std::vector<CommandFacts> commands = command_facts();
  std::vector<ConfigLine> own;
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
    // A line for all commands may mean another one's option of this name, where ours names a file.
    if (!option || !by_file(*option) || !(line.section.empty() || line.section == own_name()))
      continue;
    const auto before = std::ranges::find_if(own, [&](const ConfigLine& other) {
      return other.key == line.key && other.section == line.section;
    });
    if (before != own.end() && option->get_items_expected_max() == 1)
      fail_at(path, line.number,
              in_quotes(line.key) + " stands in line " + std::to_string(before->number) +
                  " already; keep one of the two");
    if (is_flag(*option) && line.value != "true" && line.value != "false")
      fail_at(path, line.number,
              in_quotes(line.key) + " is true or false, not " + in_quotes(line.value));
    if (line.value.empty()) fail_at(path, line.number, about_empty_value("--" + line.key));
    own.push_back(line);
  }
  return own;
}

void Grammar::take(std::vector<Default>& defaults) {
  const std::string path = config_.empty() ? users_config() : config_;
  // The strongest first: variables, the command's section of the file, lines for all commands.
  std::vector<Default> levels[] = {variables(), {}, {}};
  defaults = levels[0];  // for an error in the file
  for (const ConfigLine& line : config())
    levels[line.section.empty() ? 2 : 1].push_back(
        {"--" + line.key, line.value, printable_name(path) + ":" + std::to_string(line.number),
         line.number});

  Values all = values();
  std::vector<Values> stronger = {all};
  const std::string own = own_name();
  std::vector<Default> kept;
  for (const std::vector<Default>& level : levels) {
    Values values;
    for (const Default& d : level) {
      bool stays = true;
      for (const Values& other : stronger)
        stays = stays && !other.contains(d.option) &&
                !gives_way(own, d.option, d.value, other, &other == &stronger.front());
      if (!stays) continue;
      values[d.option] = d.value;
      kept.push_back(d);
    }
    all.insert(values.begin(), values.end());
    stronger.push_back(std::move(values));
  }
  std::erase_if(kept, [&](const Default& d) {
    return (is_flag(*app_.get_option(d.option)) && d.value == "false") ||
           is_useless(own, d.option, d.value, all);
  });
  std::ranges::stable_sort(kept, {}, &Default::line);
  defaults = kept;
  std::vector<CLI::Option*> set;
  for (const Default& d : kept) {
    CLI::Option* option = app_.get_option(d.option);
    option->add_result(d.value);
    if (!std::ranges::count(set, option)) set.push_back(option);
  }
  for (CLI::Option* option : set) option->run_callback();
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
    if (std::ranges::count(kByVariable, long_name(*option)))
      argument.variable = variable_of(long_name(*option));
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

/// "--border" for --border=wrap.
std::string name_in(const std::string& word) {
  return word.substr(0, word.find('='));
}

void Grammar::parse(const Words& words, std::vector<Default>& defaults) {
  read(words);
  if (!app_.get_option_no_throw("--config")) return;
  take(defaults);
  if (!raw_.quiet) warn_of_variables();
}

void Grammar::check_pairs() const {
  check_clashes(own_name(), values());
}

[[noreturn]] void refuse_empty_value(const std::string& name) {
  throw UsageError(about_empty_value(name));
}

void Grammar::read(const Words& words) {
  const std::string help = "; " + app_.get_name() + " --help shows what it takes";
  // The command-line library would take the word behind --option= for the value.
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    const bool is_joined = word->starts_with("--") && word->ends_with("=");
    const std::string name = word->substr(0, word->size() - is_joined);
    const CLI::Option* option = name.starts_with("-") ? app_.get_option_no_throw(name) : nullptr;
    if (!option) continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    if (is_joined && is_flag && option->get_option_text() != kFile)
      throw UsageError(in_quotes(*word) + ": " + name + " takes no value; write it alone");
    if (is_joined || (!is_flag && word + 1 != words.end() && word[1].empty()))
      refuse_empty_value(name);
  }
  try {
    app_.parse(Words(words.rbegin(), words.rend()));
  } catch (const CLI::RequiredError& error) {
    refuse_extras();  // an unknown option's value may stand where a name is missing
    const std::string text = error.what();  // "OUT is required"
    throw UsageError(text.substr(0, text.find(' ')) + " is missing" + help);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    const std::string name = text.substr(0, text.find(':'));
    const auto times = std::count_if(
        words.begin(), words.end(), [&](const std::string& word) { return name_in(word) == name; });
    throw UsageError(times > 1
                         ? name + " is given " + std::to_string(times) + " times; give it once"
                         : name + ": its value is missing" + help);
  } catch (const CLI::ParseError&) {
    // All values arrive as words and are checked here, so only a flag's can be wrong.
    for (const std::string& word : words)
      if (const std::size_t end = word.find('='); word.starts_with("-") && end != word.npos)
        throw UsageError(in_quotes(word) + ": " + word.substr(0, end) +
                         " takes no value; write it alone");
    throw UsageError("the options cannot be understood" + help);
  }
  refuse_empty();
  refuse_extras();
  take_more();
  if (more_ && app_.get_option("--files-from")->count() == 0) {
    const bool has_out = app_.get_option("--out-folder")->count() > 0;
    for (const char* name : {"IN", "OUT"})
      if (app_.get_option(name)->count() == 0 && !(has_out && std::string(name) == "OUT"))
        throw UsageError(std::string(name) + " is missing" + help);
  }
}

Words Grammar::left_over() const {
  Words left = app_.remaining();
  std::erase(left, "--");  // it did its work
  if (more_) std::erase_if(left, [](const std::string& word) { return !word.starts_with("-"); });
  return left;
}

void Grammar::refuse_empty() const {
  for (const CLI::Option* option : app_.get_options())
    if (std::ranges::count(option->results(), "") > 0)
      refuse_empty_value(option->get_positional() ? option->get_name()
                                                  : "--" + option->get_lnames().front());
  if (more_ && std::ranges::count(app_.remaining(), "") > 0) refuse_empty_value("IN");
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
  const std::string word = name_in(left[0]);
  const std::string text = unknown_name("option", word, known);
  // The list of all options is longer than an error may be.
  throw UsageError(text.find("did you mean") != std::string::npos
                       ? text
                       : "unknown option " + in_quotes(word) + "; " + app_.get_name() +
                             " --help lists them");
}

void declare(Grammar& grammar, BlurCommand& command) {
  grammar.picture_files(command.picture);
  grammar.number("Blur", "--sigma", "S", command.sigma,
                 "The Gaussian's, in pixels, above 0 to 128 (default 2)", {0, kMaxSigma, true});
  grammar.number("Blur", "--box", "N", command.box, "A box of side N instead, 1 to 1025",
                 {1, kMaxMaskSide});
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, SharpenCommand& command) {
  grammar.picture_files(command.picture);
  grammar.number("Sharpen", "--amount", "A", command.amount, "How much, from 0 (default 1)",
                 {0, kMaxAmount});
  grammar.number("Sharpen", "--sigma", "S", command.sigma,
                 "Size of the details to sharpen, in pixels, above 0 to 128\n(default 1)",
                 {0, kMaxSigma, true});
  grammar.picture_options(command.picture);
}

void declare(Grammar& grammar, EdgeCommand& command) {
  grammar.picture_files(command.picture);
  grammar.choice("Edge", "--method", command.edge.method, "Default sobel", words_of(kEdgeMethods));
  grammar.number("Edge", "--sigma", "S", command.edge.sigma,
                 "For --method=log, in pixels (default 1.4)", {0, kMaxSigma, true});
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
  grammar.number(what, "--repeats", "N", command.words.repeats,
                 "Runs a row, at most (default 21); fewer, but 3,\nwhere they take longer than "
                 "patience lasts, and one on\na GPU where that alone does",
                 {3, 100'000});
  grammar.number(what, "--patience", "S", command.words.patience,
                 "Seconds for a row's runs (default 1 on a GPU, else 0.1,\nwhere a piece of the "
                 "picture is run if all takes\nlonger); 4 S (default 4) for the bytes to hold "
                 "results against",
                 {0.001, 3600});
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
                 "All figures, or a column a mask (default brief)", words_of(kTableKinds));
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
  grammar.number(how, "--shared", "BYTES", command.launch.shared_bytes,
                 "Dynamic shared memory of a block (default 0)", {0, kMostShared});
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
  grammar.choice(
      what, "--mode", command.words.mode,
      "Outputs for all samples, or only where the mask lies\ninside (default: those with "
      "which the kernel is right)",
      words_of(kTryModes));
  grammar.number(what, "--tolerance", "T", command.wish.absolute,
                 "By how much outputs may be off (default: roundings)", {0, 1000000});
  grammar.number(what, "--relative-tolerance", "T", command.wish.relative,
                 "Likewise, times what they should be; both add up", {0, 1000000});
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

/// Whether one of the words up to "--" is the option.
bool asks(const Words& words, const char* option) {
  return std::any_of(words.begin(), std::ranges::find(words, "--"),
                     [&](const std::string& word) { return name_in(word) == option; });
}

/// The same for help, also by an h that is joined with any of these flags, as in -qh. It does not
/// matter what else is wrong.
bool asks_for_help(const Words& words, const std::string& flags) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto has_h = [&](const std::string& word) {
    const std::size_t h = word.starts_with("-") ? word.find_first_not_of(flags, 1) : word.npos;
    // In -h.png and the like h begins a name.
    return h != word.npos && word[h] == 'h' &&
           std::all_of(word.begin() + std::ptrdiff_t(h), word.end(), is_letter);
  };
  return asks(words, "--help") || std::any_of(words.begin(), std::ranges::find(words, "--"), has_h);
}

/// The short names of the command's flags, but for the h of --help.
std::string letters_of_flags(const CommandFacts& command) {
  std::string letters;
  for (const ArgumentFacts& option : command.options)
    if (option.value.empty() && option.names.front() != "-h" && option.names.front().size() == 2)
      letters += option.names.front()[1];
  return letters;
}

template <class OneCommand>
Command parse_as(const CommandHelp& help, const Words& words, std::vector<Default>& defaults) {
  OneCommand command;
  Grammar grammar(help);
  declare(grammar, command);
  grammar.closing_options();
  const CommandFacts facts = grammar.facts(help);
  if (asks_for_help(words, letters_of_flags(facts))) return Answer{grammar.help()};
  if (asks(words, "--version")) return Answer{version_text()};
  refuse_dashed_names(words);
  grammar.parse(words, defaults);
  grammar.check_pairs();
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
  std::string flags;
  for (const CommandFacts& facts : command_facts()) flags += letters_of_flags(facts);
  if (name == "help" || (name.starts_with("-") && asks_for_help(words, flags)))
    return Answer{general_help()};
  if (name == "--version") return Answer{version_text()};
  if (const Words own = {"--help", "--version"};
      name.starts_with("-") && !nearest(name, own).empty())
    throw UsageError(unknown_name("option", name, own));
  if (name.starts_with("-"))
    throw UsageError("the command comes first, then its options: convfilt COMMAND " + name);
  throw UsageError(unknown_name("command", name, words_of(command_helps())));
}

}  // namespace convfilt
