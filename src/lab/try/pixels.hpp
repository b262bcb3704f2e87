/// The mistake in a kernel's outputs, as far as they show it.
#pragma once

#include "src/lab/try/oracle.hpp"

namespace convfilt {

/// The cause, if one is seen; no text where all outputs are right. `is_cause` is set where the
/// cause is certain: all outputs are what it makes of them.
LessonSentence about_pixels(const Oracle& oracle, const TrialRun& run, const LaunchSize& launch);

/// "(3, 4)"; of a volume "(3, 4, 5)".
std::string pixel(const Trial& trial, const Cell& cell);

/// Whether that output was written.
bool is_written(const TrialRun& run, std::size_t place);

}  // namespace convfilt
