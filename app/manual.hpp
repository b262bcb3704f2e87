/// The manual page and the completions of shells, from the same definitions as --help.
#pragma once

#include <string>
#include <vector>

#include "app/checks.hpp"

namespace convfilt {

/// An option or a positional argument, as --help shows it.
struct ArgumentFacts {
  Words names;              ///< with dashes, the long one last; the name alone for a positional
  std::string value;        ///< what help calls the value; empty for a flag
  bool joined = false;      ///< whether a value may only be joined to the name: --json=FILE
  bool by_file = false;     ///< whether a file of defaults may set it
  std::string variable;     ///< the environment variable that sets it; empty = none
  std::string group;        ///< the heading in help; empty for a positional
  std::string description;  ///< one line
  Words choices;            ///< the values there are; empty where any may do
  bool required = true;     ///< for a positional: whether it must be there
  bool repeats = false;     ///< whether it may come several times
};

struct CommandFacts {
  std::string name, summary;
  std::string examples;  ///< the lines that lead the command's help
  std::vector<ArgumentFacts> positionals, options;
  bool takes_more = false;  ///< files beyond the positional arguments
};

/// The manual page in troff's language, for man(1).
std::string manual_page(const std::vector<CommandFacts>& commands);

/// A script that completes commands, options and their values, for "bash", "zsh" or "fish".
std::string completion(const std::string& shell, const std::vector<CommandFacts>& commands);

}  // namespace convfilt
