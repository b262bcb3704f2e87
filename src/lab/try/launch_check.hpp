/// Whether the launch in a student's file computes all outputs.
#pragma once

#include <optional>
#include <vector>

#include "src/lab/try/program.hpp"

namespace convfilt {

struct LaunchCheck {
  std::optional<LessonSentence> fault;
  std::vector<LessonSentence> remarks;
};

/// Compares the file's launch with the one under which the kernel is judged, for these pictures;
/// where its grid has fewer blocks, the kernel is run with it. `kernel.launch` is the judge's.
LaunchCheck check_launch(const KernelFile& kernel, const LessonProgram& program,
                         const std::vector<Trial>& trials);

}  // namespace convfilt
