/// A student's kernel as a program of this machine, which runs in a process of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/plan.hpp"
#include "kernels/problem.hpp"
#include "src/lab/process.hpp"
#include "src/lab/try/kernel_file.hpp"

namespace convfilt {

/// One thing that the kernel did wrong, as src/lab/try/runtime/machine.hpp names it.
struct LessonFinding {
  std::string fault, memory;
  std::int64_t cell = 0, times = 0;
  std::int64_t least = 0, most = 0;  ///< the cells with which it was seen at this line
  int threads = 0;
  bool is_inside = false;   ///< it was seen in a block that lies at no rim of the picture
  bool both_write = false;  ///< threads that race
  struct ThreadPosition {
    int block_x = 0, block_y = 0, block_z = 0, thread_x = 0, thread_y = 0, thread_z = 0;
    int line = 0;  ///< of the file; 0 = nobody knows
  } place, other;
};

/// One thing that is wrong, or worth a remark.
struct LessonSentence {
  std::string kind;  ///< for programs: a fault of src/lab/try/runtime/machine.hpp, or what is wrong
  int line = 0;      ///< of the kernel's file; 0 = none
  std::string text;  ///< for people
  bool is_cause = false;                      ///< it explains all that is wrong with the outputs
  std::optional<LessonFinding> finding = {};  ///< what was seen
  std::string picture = "", mask = "";        ///< with which it was seen; sides, or empty
};

/// A picture, and the mask that it is filtered with. A line has one row, and a volume has planes.
struct Trial {
  int width = 0, height = 1;
  std::vector<float> in;
  Mask mask;  ///< of a volume: the planes' rows one below the other
  int depth = 1, mask_depth = 1, channels = 1;
  bool is_valid = false;   ///< outputs are where the mask lies inside
  bool is_planar = false;  ///< channels lie one behind the other, not side by side
  double largest = 1;      ///< of its samples

  int mask_height() const { return mask.height / mask_depth; }
  int out_width() const { return width - (is_valid ? mask.width - 1 : 0); }
  int out_height() const { return height - (is_valid ? mask_height() - 1 : 0); }
  int out_depth() const { return depth - (is_valid ? mask_depth - 1 : 0); }
  std::size_t outputs() const {
    return std::size_t(out_width()) * std::size_t(out_height()) * std::size_t(out_depth()) *
           std::size_t(channels);
  }
};

struct TrialRun {
  enum class End { done, crashed, too_long, refused } end = End::done;
  std::string why;  ///< of a refusal or a crash, and where it is known of a run without end
  /// Where it was when it crashed or was stopped; the line alone may be 0.
  std::optional<LessonFinding::ThreadPosition> place;
  std::string memory;  ///< near which a crash's address lies: in, out, mask, stack, null, nowhere
  std::int64_t cell = 0;  ///< of it
  std::vector<LessonFinding> findings;
  Counts counts;  ///< of one block, in the middle of the picture
  std::vector<float> out;
  /// 1 where out was written, 2 where the first block did so; empty: it is infinite elsewhere.
  std::vector<char> is_set;
  std::string printed;     ///< by the kernel
  std::vector<double> ms;  ///< of the kernel alone, where it was timed
  double copy_ms = 0;      ///< of a copy of the picture's bytes on the device; 0 = not timed
};

/// The kernel's __constant__ array for the mask.
struct MaskRoom {
  int weights = 0;
  int planes = 0, rows = 0, columns = 0;  ///< 0 where the array has no such dimension
};

/// Writes the kernel's file and what says how it is called, for src/lab/try/runtime/runner.cpp and
/// device.cu, into a folder.
void write_student(const KernelFile& kernel, bool for_host, const std::filesystem::path& folder);

/// Writes a trial's mask and samples, as the runners read them.
void write_trial(const KernelFile& kernel, const Trial& trial, const std::filesystem::path& file);

/// A compiler's words with the user's name for the file, from the first error on.
std::string complaint(std::string words, const std::string& copy, const std::string& path);

/// The folder below which src/lab/try/runtime lies, beside the installed program. Throws
/// NoVerdictError where it is missing.
std::filesystem::path lesson_sources();

/// The library that each student's kernel is linked with: the machine that runs its threads, and
/// main(). It lies where codec modules do. Throws NoVerdictError where it is missing.
std::filesystem::path lesson_library();

class LessonProgram {
 public:
  /// After so much of a processor's time a run is stopped.
  static constexpr double kProcessorSeconds = 10;

  /// Compiles the kernel with $CXX, or c++. Throws KernelRefused with the compiler's first words
  /// where that fails, NoVerdictError where there is no compiler.
  explicit LessonProgram(const KernelFile& kernel);

  /// The array for the mask; nothing where the mask is an argument. Throws KernelRefused where it
  /// cannot be told, or where a block wants too much shared memory.
  MaskRoom mask_room() const;

  /// Runs the kernel once, for some seconds at most, in as many blocks as the trial needs or in
  /// those. Throws NoVerdictError where the process cannot be made.
  TrialRun run(const Trial& trial, const std::optional<BlockSides>& blocks = {}) const;

  /// From now on the kernel is launched like that.
  void launch_as(const LaunchSize& launch) { kernel_.launch = launch; }

 private:
  /// The line of the kernel's file that an address of code comes from; 0 = nobody knows.
  int line_of(const std::string& code) const;
  /// Throws KernelRefused where the compiler warns of an array of variable length in a function for
  /// the device. `copy` is how the compiler calls the file.
  void refuse_variable_arrays(const std::string& said, const std::string& copy) const;

  KernelFile kernel_;
  ScratchFolder folder_;
  mutable std::map<std::string, int> lines_;  ///< by addresses of code; addr2line takes its time
};

}  // namespace convfilt
