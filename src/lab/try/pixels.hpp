/// The mistake in a kernel's outputs, as far as they show it.
#pragma once

#include "src/lab/try/oracle.hpp"

namespace convfilt {

/// The cause, if one is seen; no text where all outputs are right. `is_cause` is set where the
/// cause is certain: all outputs are what it makes of them.
LessonSentence about_pixels(const Oracle& oracle, const TrialRun& run, const LaunchSize& launch);

/// "(3, 4)", or "(3, 4, 5)" where there is a z.
std::string at_place(int x, int y, int z, bool has_z);
inline std::string pixel(const Trial& trial, const Cell& cell) {
  return at_place(cell.x, cell.y, cell.z, trial.depth > 1);
}

/// Whether that output was written.
bool is_written(const TrialRun& run, std::size_t place);

}  // namespace convfilt
