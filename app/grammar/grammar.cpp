#include <algorithm>
#include <cctype>
#include <memory>

#include "app/commands.hpp"
#include "app/grammar/commands.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/formats.hpp"
#include "src/recipe/table.hpp"

namespace convfilt {
namespace {

// In help's order.
const OtherCommand* const kOthers[] = {&kCompare, &kExplain, &kCheck, &kTune,    &kMask,
                                       &kMerge,   &kTry,     &kList,  &kGenerate};

std::vector<const CommandHelp*> helps() {
  std::vector<const CommandHelp*> all;
  for (const FilterLine& line : filters()) all.push_back(&line.help);
  for (const OtherCommand* other : kOthers)
    if (other->declare) all.push_back(&other->help);
  return all;
}

/// Binds all that the command of this name takes to a new command.
CommandPtr bind(Binder& binder, std::string_view name) {
  CommandPtr command;
  for (const FilterLine& line : filters())
    if (line.help.name == name) {
      auto filter = std::make_unique<FilterCommand>();
      filter->line = &line;
      declare(binder, *filter);
      command = std::move(filter);
    }
  for (const OtherCommand* other : kOthers)
    if (other->help.name == name) command = other->declare(binder);
  binder.close();
  return command;
}

CommandPtr print(const std::string& text) {
  struct Printing : Command {
    std::string text;
    void run() override { print_text(text); }
  };
  auto command = std::make_unique<Printing>();
  command->text = text;
  return command;
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

CommandPtr parse_as(const CommandHelp& help, const Words& words, std::vector<Default>& defaults) {
  Binder binder(help);
  CommandPtr command = bind(binder, help.name);
  const CommandFacts facts = binder.facts();
  if (asks(words, "--help")) return print(help_text(facts, true));
  if (asks_for_screen(words, letters_of_flags(facts))) return print(help_text(facts, false));
  if (asks(words, "--version")) return print(version_text());
  refuse_dashed_names(words);
  binder.parse(words, defaults);
  for (const Default& d : defaults) log_detail(d.option + "=" + d.value + " by " + d.where);
  return command;
}

}  // namespace

std::vector<CommandFacts> command_facts() {
  std::vector<CommandFacts> all;
  for (const CommandHelp* help : helps()) {
    Binder binder(*help);
    const CommandPtr command = bind(binder, help->name);
    all.push_back(binder.facts());
  }
  return all;
}

bool is_left_out(std::string_view command) {
  return std::ranges::any_of(kOthers, [&](const OtherCommand* other) {
    return other->help.name == command && !other->declare;
  });
}

CommandPtr parse(int argc, const char* const* argv, std::vector<Default>& defaults) {
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
    return print(general_help(commands));
  if (name == "--version") return print(version_text());
  if (const Words own = {"--help", "--version"};
      name.starts_with("-") && !nearest(name, own).empty())
    throw UsageError(unknown_name("option", name, own));
  if (name.starts_with("-"))
    throw UsageError("the command comes first, then its options: convfilt COMMAND " + name);
  if (is_left_out(name))
    throw UsageError(
        "convfilt was built without compare, explain, check, tune and try; build it with "
        "-DCONVFILT_LAB=ON");
  Words names;
  for (const CommandHelp* help : commands) names.emplace_back(help->name);
  throw UsageError(unknown_name("command", name, names));
}

}  // namespace convfilt
