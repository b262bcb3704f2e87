/// Messages to the person, all on stderr: stdout carries results only.
#pragma once

#include <string_view>

namespace convfilt {

enum class Loudness {
  quiet,    ///< errors only
  normal,   ///< errors, warnings and notes
  verbose,  ///< details too
};

/// Sets the loudness of the whole process, which is normal until then.
void set_loudness(Loudness loudness);

/// "convfilt: MESSAGE", only when verbose.
void log_detail(std::string_view message);

/// "convfilt: MESSAGE", unless quiet: something one should know that is no fault.
void log_note(std::string_view message);

/// "convfilt: warning: MESSAGE", unless quiet: the result is not quite what was asked for.
void log_warning(std::string_view message);

/// "convfilt: MESSAGE", always: the reason for a non-zero exit code.
void log_error(std::string_view message);

}  // namespace convfilt
