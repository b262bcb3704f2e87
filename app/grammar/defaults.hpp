/// Options that come from the environment or from a file instead of the command line.
#pragma once

#include <istream>
#include <span>
#include <string>
#include <vector>

namespace convfilt {

/// An option's value from outside the command line.
struct Default {
  std::string option;  ///< "--border"
  std::string value;
  std::string where;  ///< "CONVFILT_BORDER", or "config.toml:3"
  int line = 0;       ///< of the file; 0 = from the environment
};

/// The message, led by where the options come from that it names. `quotes_values`: it also speaks
/// of an option whose value it quotes, unless that is one of the command line's `words`, too.
std::string with_origin(const std::string& message, std::span<const Default> defaults,
                        std::span<const std::string> words, bool quotes_values = true);

/// "CONVFILT_BORDER_VALUE" for "--border-value".
std::string variable_of(const std::string& option);

/// $XDG_CONFIG_HOME/convfilt/config.toml, else below ~/.config; empty where there is no such place.
std::string users_config();

/// A line `key = value` of a file of defaults.
struct ConfigLine {
  int number = 0;
  std::string section;  ///< the command in brackets above it; empty = for all commands
  std::string key, value;
};

/// Reads TOML, as far as options need it: sections, comments, and values that are quoted or, beyond
/// TOML, bare. Between double quotation marks \" and \\ are " and \. A section comes as a line
/// without a key, too. Throws UsageError, "file:line: what; remedy"; IoError where the file cannot
/// be read, or is larger than such files are.
std::vector<ConfigLine> config_lines(std::istream& in, const std::string& file);

/// Throws UsageError for what a line says.
[[noreturn]] void fail_at(const std::string& file, int line, const std::string& message);

}  // namespace convfilt
