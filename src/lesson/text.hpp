/// A verdict for people and for programs.
#pragma once

#include <string>

#include "src/lesson/judge.hpp"

namespace convfilt {

/// Lines of up to about 100 columns; the table of counts is broken where that is more than `width`.
std::string verdict_text(const KernelFile& kernel, const LessonVerdict& verdict, std::size_t width);

/// One object of JSON.
std::string verdict_json(const KernelFile& kernel, const LessonVerdict& verdict);

/// What is wrong in one line, for the end; empty where nothing is.
std::string verdict_failure(const KernelFile& kernel, const LessonVerdict& verdict);

}  // namespace convfilt
