/// A student's kernel as a program of this machine, which runs in a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "src/lesson/kernel_file.hpp"

namespace convfilt {

/// One thing that the kernel did wrong, as kernels/lesson/machine.hpp names it.
struct LessonFinding {
  std::string fault, memory;
  std::int64_t cell = 0, times = 0;
  int threads = 0;
  struct Place {
    int block_x = 0, block_y = 0, thread_x = 0, thread_y = 0;
    int line = 0;  ///< of the file; 0 = nobody knows
  } place, other;
};

/// What one block did, in the middle of the picture.
struct LessonCounts {
  std::int64_t global_reads = 0, global_writes = 0, shared_reads = 0, shared_writes = 0,
               mask_reads = 0, barriers = 0, sectors = 0, fewest_sectors = 0, bank_conflicts = 0;
};

struct Trial {
  int width = 0, height = 0;
  std::vector<float> in;
};

struct TrialRun {
  enum class End { done, crashed, too_long, refused } end = End::done;
  std::string why;  ///< of a refusal or a crash
  std::vector<LessonFinding> findings;
  LessonCounts counts;
  std::vector<float> out;  ///< infinite where nothing was written
};

class LessonProgram {
 public:
  /// Compiles the kernel with $CXX, or c++. Throws IoError with the compiler's first words where
  /// that fails.
  explicit LessonProgram(const KernelFile& kernel);
  ~LessonProgram();
  LessonProgram(const LessonProgram&) = delete;
  LessonProgram& operator=(const LessonProgram&) = delete;

  /// Runs the kernel once, for some seconds at most. Throws IoError where the process cannot be
  /// made.
  TrialRun run(const Trial& trial, const Mask& mask) const;

 private:
  int line_of(const std::string& code) const;

  KernelFile kernel_;
  std::string folder_;  ///< of its own, removed at the end
};

}  // namespace convfilt
