#include "app/grammar/binder.hpp"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // what App.hpp declares of it is linked
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/source_text.hpp"
#include "src/recipe/table.hpp"

namespace convfilt {

struct Binder::Entry {
  ArgumentFacts facts;
  CLI::Option* option;

  bool is_flag() const { return facts.value.empty(); }
  /// "STRATEGY", or "--border" for -b,--border.
  const std::string& name() const { return facts.names.back(); }
};

namespace {

/// A person or a machine wants these on every run, so that an environment variable sets them, too.
constexpr const char* kByVariable[] = {"--strategy", "--device",    "--threads",   "--pitch",
                                       "--border",   "--on-damage", "--max-pixels"};

/// Variables of ours begin like this, and some of them set no option.
constexpr std::string_view kOurs = "CONVFILT_";
constexpr const char* kOtherVariables[] = {"FILTERS", "PROFILES", "MODULES", "NVIMGCODEC"};

/// "--border" for --border=wrap.
std::string name_in(const std::string& word) {
  return word.substr(0, word.find('='));
}

/// -o and --out-folder for "-o,--out-folder".
Words names_in(const std::string& name) {
  const std::size_t comma = name.find(',');
  return comma == name.npos ? Words{name} : Words{name.substr(0, comma), name.substr(comma + 1)};
}

std::string about_empty_value(const std::string& name) {
  return name + " is empty; give it a value" + (name.starts_with("-") ? ", or leave it out" : "") +
         " (in a script: is a variable not set?)";
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

/// Warns of variables that set nothing: a name that is nearly one of ours, and that of an option
/// which has no variable. Scripts have others, so the rest is left alone.
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
      log_warning(variable + " sets nothing, because " + *option +
                  " has no variable; give the option, or write it in the file of defaults");
    else if (const std::string near = nearest(name, known); !near.empty())
      log_warning(variable + " sets nothing; did you mean '" + std::string(kOurs) + near + "'?");
  }
}

}  // namespace

Binder::Binder(const CommandHelp& help) : help_(help), app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag();
  app_->allow_extras();  // so that a misspelt option gets the nearest name
}

Binder::~Binder() = default;

Binder::Entry& Binder::add(ArgumentFacts facts, CLI::Option* option) {
  const std::string& name = facts.names.back();
  facts.group = group_;
  // Nothing is replaced, and no file written, that the command line does not name.
  const bool acts_once = name == "--in-place" || name == "--version" || name == "--help";
  facts.by_file =
      name.starts_with("-") && facts.value != "FILE" && facts.value != "FOLDER" && !acts_once;
  if (std::ranges::count(kByVariable, name)) facts.variable = variable_of(name);
  facts.is_own = is_own_;
  option->required(facts.required);
  entries_.push_back(std::make_unique<Entry>(Entry{std::move(facts), option}));
  return *entries_.back();
}

CLI::Option* Binder::words(const std::string& name, ReadAll read) {
  return app_->add_option(name, [read = std::move(read)](const CLI::results_t& given) {
    read(given);
    return true;
  });
}

void Binder::positional(const char* name, std::string& value, const std::string& text,
                        bool required, const Words& choices) {
  add({.names = {name}, .value = name, .text = text, .choices = choices, .required = required},
      words(name, [&value](const Words& given) { value = given.back(); }));
}

void Binder::option(const std::string& name, const char* letters, Read read,
                    const std::string& text, const Words& choices) {
  add({.names = names_in(name), .value = letters, .text = text, .choices = choices},
      words(name, [read = std::move(read)](const Words& given) { read(given.back()); }));
}

void Binder::repeated(const std::string& name, const char* letters, Words& values,
                      const std::string& text) {
  several(name, letters, 1, values, text);
  entries_.back()->option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Binder::several(const std::string& name, const char* letters, int most, Words& values,
                     const std::string& text) {
  add({.names = {name}, .value = letters, .text = text, .repeats = true},
      words(name, [&values](const Words& given) { values = given; })->expected(1, most));
}

void Binder::flag(const std::string& name, bool& value, const std::string& text) {
  add({.names = names_in(name), .text = text}, app_->add_flag(name, value));
}

void Binder::joined(const std::string& name, const char* letters, const std::string& alone,
                    std::string& word, const std::string& text, const Words& choices) {
  add({.names = {name}, .value = letters, .text = text, .choices = choices, .joined = true},
      app_->add_flag(name + "{" + alone + "}", word));
}

void Binder::close() {
  group("Messages");
  flag("-h,--help", answered_, "Print help: -h a screen, --help all options");
  flag("--version", answered_, "Print the version");
  if (std::ranges::none_of(entries_, [](const auto& entry) { return entry->facts.by_file; }))
    return;
  group("Defaults");
  option("--config", "FILE", config_, "The file of defaults, instead of your own");
}

CommandFacts Binder::facts() const {
  CommandFacts command{&help_, {}, {}, more_ != nullptr};
  for (const auto& entry : entries_) {
    (entry->name().starts_with("-") ? command.options : command.positionals)
        .push_back(entry->facts);
  }
  return command;
}

Binder::Entry& Binder::entry(const std::string& name) const {
  return **std::ranges::find_if(entries_, [&](const auto& entry) { return entry->name() == name; });
}

bool Binder::is_given(const std::string& name) const {
  return entry(name).option->count() > 0;
}

Values Binder::values() const {
  Values values;
  for (const auto& entry : entries_) {
    if (entry->option->count() == 0) continue;
    values[entry->name() == "STRATEGY" ? "--strategy" : entry->name()] =
        entry->is_flag() ? (entry->option->as<bool>() ? "true" : "false")
                         : entry->option->results().back();
  }
  // A border has a value only if it is constant, so that is what a value alone asks for.
  if (values.contains("--border-value")) values.try_emplace("--border", "constant");
  return values;
}

std::vector<Default> Binder::variables() const {
  std::vector<Default> found;
  for (const auto& entry : entries_) {
    const std::string& variable = entry->facts.variable;
    const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    if (value && *value) found.push_back({entry->name(), value, variable});
  }
  return found;
}

std::vector<ConfigLine> Binder::config() const {
  const bool given = is_given("--config");
  const std::string path = given ? config_ : users_config();
  check_config(path, given);
  std::ifstream file(path);
  if (!file && given)
    throw IoError("--config: cannot read '" + printable_name(path) +
                  "'; check its name and folder");
  if (!file) return {};

  const std::vector<CommandFacts> commands = command_facts();
  std::vector<ConfigLine> own;
  for (const ConfigLine& line : config_lines(file, path)) {
    const auto fail = [&](const std::string& text) { fail_at(path, line.number, text); };
    const std::string key = in_quotes(line.key);
    Words sections, known, unsettable;
    for (const CommandFacts& command : commands)
      for (const ArgumentFacts& option : command.options) {
        if (option.by_file && (sections.empty() || sections.back() != command.help->name))
          sections.emplace_back(command.help->name);
        if (line.section.empty() || line.section == command.help->name)
          (option.by_file ? known : unsettable).push_back(option.names.back().substr(2));
      }
    if (is_left_out(line.section)) continue;
    if (!line.section.empty() && !std::ranges::count(sections, line.section))
      fail(unknown_name("section", line.section, sections));
    if (line.key.empty()) continue;
    const bool is_known = std::ranges::count(known, line.key) > 0;
    if (!is_known && std::ranges::count(unsettable, line.key))
      fail(key + " belongs on the command line: write --" + line.key + " there");
    if (!is_known)
      fail(unknown_option(line.key, known, line.section.empty() ? "COMMAND" : line.section));
    const auto found = std::ranges::find_if(
        entries_, [&](const auto& entry) { return entry->name() == "--" + line.key; });
    // A line for all commands may mean another one's option of this name, where ours names a file.
    if (found == entries_.end() || !(*found)->facts.by_file ||
        !(line.section.empty() || line.section == help_.name))
      continue;
    const auto before = std::ranges::find_if(own, [&](const ConfigLine& other) {
      return other.key == line.key && other.section == line.section;
    });
    if (before != own.end() && !(*found)->facts.repeats)
      fail(key + " stands in line " + std::to_string(before->number) +
           " already; keep one of the two");
    if ((*found)->is_flag() && line.value != "true" && line.value != "false")
      fail(key + " is true or false, not " + in_quotes(line.value));
    if (line.value.empty()) fail(about_empty_value("--" + line.key));
    own.push_back(line);
  }
  return own;
}

void Binder::take(std::vector<Default>& defaults) {
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
  std::vector<Default> kept;
  for (const std::vector<Default>& level : levels) {
    Values values;
    for (const Default& d : level) {
      bool stays = true;
      for (const Values& other : stronger)
        stays = stays && !other.contains(d.option) &&
                !gives_way(help_.name, d.option, d.value, other, &other == &stronger.front());
      if (!stays) continue;
      values[d.option] = d.value;
      kept.push_back(d);
    }
    all.insert(values.begin(), values.end());
    stronger.push_back(std::move(values));
  }
  std::erase_if(kept, [&](const Default& d) {
    return (entry(d.option).is_flag() && d.value == "false") ||
           is_useless(help_.name, d.option, d.value, all);
  });
  std::ranges::stable_sort(kept, {}, &Default::line);
  defaults = kept;
  std::vector<CLI::Option*> set;
  for (const Default& d : kept) {
    CLI::Option* option = entry(d.option).option;
    option->add_result(d.value);
    if (!std::ranges::count(set, option)) set.push_back(option);
  }
  for (CLI::Option* option : set) option->run_callback();
}

void Binder::parse(const Words& words, std::vector<Default>& defaults) {
  read(words);
  if (std::ranges::any_of(entries_, [](const auto& entry) { return entry->facts.by_file; })) {
    take(defaults);
    const Values all = values();
    const auto quiet = all.find("--quiet");
    if (quiet == all.end() || quiet->second == "false") warn_of_variables();
  }
  check_clashes(help_.name, values());
  for (const auto& check : checks_) check();
}

void Binder::read(const Words& words) {
  const std::string help = "; convfilt " + std::string(help_.name) + " --help shows what it takes";
  // The command-line library would take the word behind --option= for the value.
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    const bool is_joined = word->starts_with("--") && word->ends_with("=");
    const std::string name = word->substr(0, word->size() - is_joined);
    const auto found = std::ranges::find_if(entries_, [&](const auto& entry) {
      return name.starts_with("-") && std::ranges::count(entry->facts.names, name) > 0;
    });
    if (found == entries_.end()) continue;
    const ArgumentFacts& facts = (*found)->facts;
    if (is_joined && facts.value.empty())
      throw UsageError(in_quotes(*word) + ": " + name + " takes no value; write it alone");
    const bool takes_next = !facts.value.empty() && !facts.joined;
    if (is_joined || (takes_next && word + 1 != words.end() && word[1].empty()))
      throw UsageError(about_empty_value(name));
  }
  try {
    app_->parse(Words(words.rbegin(), words.rend()));
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
  if (!more_) return;
  for (const std::string& word : app_->remaining())
    if (!word.starts_with("-")) more_->push_back(word);
  if (is_given("--files-from")) return;
  for (const char* name : {"IN", "OUT"})
    if (!is_given(name) && !(is_given("--out-folder") && std::string(name) == "OUT"))
      throw UsageError(std::string(name) + " is missing" + help);
}

void Binder::refuse_empty() const {
  for (const auto& entry : entries_)
    if (std::ranges::count(entry->option->results(), "") > 0)
      throw UsageError(about_empty_value(entry->name()));
  if (more_ && std::ranges::count(app_->remaining(), "") > 0)
    throw UsageError(about_empty_value("IN"));
}

void Binder::refuse_extras() const {
  Words left = app_->remaining();
  std::erase(left, "--");  // it did its work
  if (more_) std::erase_if(left, [](const std::string& word) { return !word.starts_with("-"); });
  if (left.empty()) return;
  const std::string command(help_.name);
  if (!left[0].starts_with("-"))
    throw UsageError("unexpected argument " + in_quotes(left[0]) + "; convfilt " + command +
                     " --help shows what it takes");
  Words known;
  for (const auto& entry : entries_)
    if (entry->name().starts_with("--")) known.push_back(entry->name());
  throw UsageError(unknown_option(name_in(left[0]), known, command));
}

}  // namespace convfilt
