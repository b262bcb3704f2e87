/// Messages to the user, all on stderr; stdout has only results.
#pragma once

#include <string_view>

namespace convfilt {

enum class Loudness {
  quiet,    ///< errors only
  normal,   ///< errors, warnings and notes
  verbose,  ///< details too
};

/// Sets the loudness of the process; the default is normal.
void set_loudness(Loudness loudness);

/// "convfilt: MESSAGE", only when verbose.
void log_detail(std::string_view message);

/// "convfilt: MESSAGE", unless quiet: good to know, but not an error.
void log_note(std::string_view message);

/// "convfilt: warning: MESSAGE", unless quiet: the result differs from what the user asked for.
void log_warning(std::string_view message);

/// "convfilt: MESSAGE", always: the reason for a non-zero exit code.
void log_error(std::string_view message);

}  // namespace convfilt
