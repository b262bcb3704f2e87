/// The texts of -h and --help, and from the same definitions the manual page and completions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/words.hpp"

namespace convfilt {

/// An option or a positional argument.
struct ArgumentFacts {
  Words names{};           ///< with dashes, the long one last; the name alone for a positional
  std::string value{};     ///< what help calls the value; empty for a flag
  std::string group{};     ///< the heading in help
  std::string text{};      ///< sentences without the last one's full stop
  Words choices{};         ///< the values there are; empty where any may do
  std::string variable{};  ///< the environment variable that sets it; empty = none
  bool joined = false;     ///< whether a value may only be joined to the name: --json=FILE
  bool by_file = false;    ///< whether a file of defaults may set it
  bool required = false;   ///< for a positional: whether it must be there
  bool repeats = false;    ///< whether it may come several times
  bool is_own = false;     ///< of one command, so that -h lists it
};

struct CommandFacts {
  const CommandHelp* help = nullptr;
  std::vector<ArgumentFacts> positionals, options;
  bool takes_more = false;  ///< files beyond the positional arguments
};

/// All commands as help shows them, for the manual and for completion.
std::vector<CommandFacts> command_facts();

/// Whether this build lacks the command, as one without the lab does.
bool is_left_out(std::string_view command);

/// "Where results go" of "Where results go. All other names are inputs".
std::string first_sentence(const std::string& text);

/// The text with "(default WORD)" behind its first sentence; as it is where the word is empty.
std::string with_default(const std::string& text, const std::string& word);

/// The screen of -h; or all that there is to say, for --help.
std::string help_text(const CommandFacts& command, bool all);

/// The text of `convfilt --help`.
std::string general_help(std::span<const CommandHelp* const> commands);

/// The few lines that `convfilt` prints without arguments.
std::string short_help(std::span<const CommandHelp* const> commands);

/// The manual page in troff's language, for man(1).
std::string manual_page(const std::vector<CommandFacts>& commands);

/// A script that completes commands, options and their values, for "bash", "zsh" or "fish".
std::string completion(const std::string& shell, const std::vector<CommandFacts>& commands);

/// "convfilt 1.2.3\n".
std::string version_text();

}  // namespace convfilt
