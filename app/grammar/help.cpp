#include "app/grammar/help.hpp"

#include <algorithm>

#include "src/base/suggest.hpp"
#include "src/base/terminal.hpp"

namespace convfilt {
namespace {

constexpr std::size_t kWidth = 80, kColumn = 26;
constexpr int kExamplesOfScreen = 4;

/// The ten options that people use most, of those that several commands share.
constexpr std::string_view kOftenUsed[] = {"--strategy", "--device",     "--border",    "--format",
                                           "--quality",  "--out-folder", "--recursive", "--resume",
                                           "--strip",    "--verbose"};

/// A name, and its text in lines that begin in the second column.
std::string entry_of(const std::string& name, const std::string& text) {
  const std::string margin(kColumn, ' ');
  std::string lines = "  " + name;
  lines += lines.size() + 2 > kColumn ? "\n" + margin : std::string(kColumn - lines.size(), ' ');
  for (const char c : text) lines += c == '\n' ? "\n" + margin : std::string(1, c);
  return wrapped(lines, kWidth) + "\n";
}

std::string left_of(const ArgumentFacts& argument) {
  const std::string text = joined(argument.names, ",");
  if (!text.starts_with("-") || argument.value.empty()) return text;
  return text + (argument.joined ? "[=" + argument.value + "]" : " " + argument.value);
}

std::string entry_of(const ArgumentFacts& argument, bool all) {
  const std::string choices = argument.choices.empty() ? "" : listed(argument.choices, "or");
  if (all)
    return entry_of(left_of(argument), argument.text + (choices.empty() ? "" : ":\n") + choices);
  // A list that takes several lines is for --help.
  const bool is_short = !choices.empty() && choices.size() < kWidth - kColumn;
  return entry_of(left_of(argument),
                  first_sentence(argument.text) + (is_short ? ": " + choices : ""));
}

/// The first lines of a text.
std::string_view head_of(std::string_view text, int lines) {
  std::size_t end = 0;
  for (; lines > 0 && end < text.size(); --lines) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

/// Where options come from beside the command line.
std::string defaults_of(const CommandFacts& command) {
  Words variables;
  for (const ArgumentFacts& option : command.options)
    if (!option.variable.empty()) variables.push_back(option.variable);
  std::string text;
  if (!variables.empty()) text = entry_of("Environment", joined(variables, ", "));
  return text +
         entry_of("~/.config/convfilt/config.toml",
                  "Your own file, in $XDG_CONFIG_HOME if that is set. A line reads, for example, "
                  "border = \"reflect\"; lines below [" +
                      std::string(command.help->name) +
                      "] are for this command. Options win over the environment, and the "
                      "environment wins over the file. An empty variable counts as not "
                      "set.");
}

std::string command_table(std::span<const CommandHelp* const> commands) {
  std::string text = "Commands:\n";
  for (const CommandHelp* command : commands) {
    text += "  " + std::string(command->name);
    text.append(10 - std::min<std::size_t>(8, command->name.size()), ' ');
    text += std::string(command->summary) + "\n";
  }
  return text;
}

}  // namespace

std::string first_sentence(const std::string& text) {
  return text.substr(0, text.find(". "));
}

std::string with_default(const std::string& text, const std::string& word) {
  if (word.empty()) return text;
  const std::string first = first_sentence(text);
  return first + " (default " + word + ")" + text.substr(first.size());
}

std::string help_text(const CommandFacts& command, bool all) {
  const CommandHelp& help = *command.help;
  std::string text(help.about);
  if (all && !help.more.empty()) text += "\n" + std::string(help.more);
  text += "\nExamples:\n" +
          std::string(all ? help.examples : head_of(help.examples, kExamplesOfScreen)) +
          "\nUsage: convfilt " + std::string(help.name) + " [OPTIONS]";
  for (const ArgumentFacts& positional : command.positionals)
    text += positional.required ? " " + positional.value : " [" + positional.value + "]";
  text += "\n";
  if (!command.positionals.empty()) text += "\nArguments:\n";
  for (const ArgumentFacts& positional : command.positionals) text += entry_of(positional, all);
  std::string group;
  const auto add = [&](const ArgumentFacts& option, const std::string& heading) {
    if (heading != group) text += "\n" + heading + ":\n";
    group = heading;
    text += entry_of(option, all);
  };
  for (const ArgumentFacts& option : command.options)
    if (all || option.is_own) add(option, option.group);
  if (all)
    return text + (std::ranges::any_of(command.options, &ArgumentFacts::by_file)
                       ? defaults_of(command)
                       : "");
  for (const ArgumentFacts& option : command.options)
    if (!option.is_own && std::ranges::count(kOftenUsed, option.names.back()) > 0)
      add(option, "Often used");
  return text + "\nconvfilt " + std::string(help.name) + " --help lists all options.\n";
}

std::string general_help(std::span<const CommandHelp* const> commands) {
  return "convfilt blurs, sharpens, finds edges and applies any mask to pictures: exactly,\n"
         "and with the same bytes on every CPU and GPU, except for roundings under very\n"
         "large masks.\n\n"
         "Examples:\n"
         "  convfilt blur photo.jpg soft.jpg\n"
         "  convfilt sharpen photo.jpg crisp.jpg --amount 0.5\n"
         "  convfilt edge photo.jpg edges.png\n"
         "  convfilt apply emboss3 photo.jpg relief.png\n"
         "  convfilt sharpen photos/ out/ -r                 a folder of pictures\n"
         "  convfilt blur - - --format png < in.png > out.png\n\n"
         "Usage: convfilt COMMAND [OPTIONS] ...\n\n" +
         command_table(commands) +
         "\nOptions can be set for every run: in ~/.config/convfilt/config.toml, or by\n"
         "variables such as CONVFILT_BORDER. CONVFILT_FILTERS names a folder of your\n"
         "masks, and CONVFILT_PROFILES a folder of profiles.\n"
         "\nconvfilt COMMAND -h shows a command on one screen, and --help all its options.\n"
         "convfilt --version prints the version.\n";
}

std::string short_help(std::span<const CommandHelp* const> commands) {
  return "say what to do, e.g. convfilt blur photo.jpg soft.jpg\n\n" + command_table(commands) +
         "\nconvfilt --help shows examples.";
}

std::string version_text() {
  return "convfilt " CONVFILT_VERSION "\n";
}

}  // namespace convfilt
