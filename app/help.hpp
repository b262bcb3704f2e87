/// The texts of --help, which lead with examples.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace convfilt {

struct CommandHelp {
  std::string_view name;
  std::string_view summary;   ///< one line for the list of commands
  std::string_view examples;  ///< lines that lead the command's own help
};

/// All commands, in the order in which help lists them.
std::span<const CommandHelp> command_helps();

/// What `convfilt --help` says.
std::string general_help();

/// What `convfilt` alone says: a few lines.
std::string short_help();

/// "convfilt 1.2.3\n".
std::string version_text();

}  // namespace convfilt
