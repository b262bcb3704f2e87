/// Whether a student's kernel is right, and if not, what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "src/lesson/program.hpp"

namespace convfilt {

/// One thing that is wrong, or worth a remark.
struct LessonSentence {
  std::string kind;  ///< for programs: a fault of kernels/lesson/machine.hpp, or what is wrong
  int line = 0;      ///< of the kernel's file; 0 = none
  std::string text;  ///< for people
};

struct LessonVerdict {
  int trials = 0, right = 0;
  std::vector<LessonSentence> faults;   ///< by weight, each once
  std::vector<LessonSentence> remarks;  ///< a right kernel may have them
  LessonCounts counts;                  ///< of a block in the middle of a picture of many

  bool is_right() const { return right == trials; }
};

/// Runs the kernel on pictures of many sizes, ghost cells 0, and compares each result with sums in
/// double precision. Throws IoError where it cannot be compiled or run.
LessonVerdict judge(const KernelFile& kernel, const Mask& mask);

}  // namespace convfilt
