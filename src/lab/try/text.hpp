/// A verdict for people and for programs.
#pragma once

#include <string>

#include "src/lab/try/judge.hpp"

namespace convfilt {

/// Lines of up to about 100 columns; the table of counts is broken where that is more than `width`.
std::string verdict_text(const KernelFile& kernel, const LessonVerdict& verdict, std::size_t width);

/// One object of JSON; `seconds` is how long it all took.
std::string verdict_json(const KernelFile& kernel, const LessonVerdict& verdict, double seconds);

/// One object of JSON where there is no verdict. `status` is refused, not_compiled or error; a line
/// of 0 is none.
std::string refusal_json(const std::string& path, const std::string& status, int line,
                         const std::string& text);

/// The failure in one line, for the end; empty where there is none.
std::string verdict_failure(const KernelFile& kernel, const LessonVerdict& verdict);

}  // namespace convfilt
