/// Whether a student's kernel is right, and if not, what is wrong with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/strategy.hpp"
#include "src/lab/try/program.hpp"

namespace convfilt {

/// The work of one block of a kernel, far from the edges.
struct BlockRow {
  std::string name;  ///< of a strategy, with its settings, or of the student's kernel
  BlockSides block, outputs;
  Counts counts;
  double reuse = 0;  ///< taps of the block's outputs for each read of global memory
};

/// How long a kernel takes on a large picture that lies on a GPU.
struct TimeRow {
  std::string name;
  double ms = 0;      ///< the median
  double copies = 0;  ///< of the picture's bytes on the device, that take as long
};

/// On how many pictures a kernel was tried, and what came of it.
struct LessonScore {
  int pictures = 0;  ///< that there are
  int right = 0;
  int untried = 0;                     ///< since it did not end, or was refused
  std::vector<LessonSentence> faults;  ///< by weight, each once
  std::vector<LessonSentence> remarks = {};
  /// By how much outputs are off at the most, and by how much of what they should be; not a number
  /// where some are none, or are not written.
  double absolute_error = 0, relative_error = 0;
  double of_tolerance = 0;  ///< by how much of the tolerance, where the person says one
  bool is_off = false;      ///< by more than roundings
  std::size_t outputs = 0, right_outputs = 0;  ///< of the runs that came to their end
  bool ends = true;                            ///< every run did
  bool has_not_a_number = false;  ///< among outputs, for a reason that nothing else tells

  bool is_right() const { return right == pictures; }
  bool has_fault(std::string_view kind) const;
};

/// The verdict of a GPU on the kernel.
struct LessonOnGpu {
  std::string device;
  LessonScore score;
  int width = 0, height = 0;   ///< of the picture that was timed; 0 = none was
  std::vector<TimeRow> times;  ///< the kernel's, then the textbook's
};

/// The kernel's task, beside the mask.
struct LessonTask {
  int dimensions = 2;      ///< of pictures
  int channels = 1;        ///< the most
  bool is_valid = false;   ///< outputs are where the mask lies inside
  bool is_planar = false;  ///< channels lie one behind the other, not side by side

  bool operator==(const LessonTask&) const = default;
};

/// "5x3"; "3x3x3" of a mask for volumes.
std::string mask_sides(const Mask& mask, const LessonTask& task);

struct LessonVerdict {
  LessonTask task;
  std::vector<KernelArgument> arguments;       ///< what the kernel's parameters were given
  std::vector<Mask> masks;                     ///< that it was tried with
  std::string why_masks;                       ///< why these, in half a sentence
  LaunchSize launch;                           ///< under which it was judged
  std::optional<LessonSentence> launch_fault;  ///< what is wrong with the file's own launch
  LessonScore host;
  std::optional<LessonOnGpu> gpu;       ///< where it was tried on one
  std::vector<LessonSentence> remarks;  ///< a right kernel may have them
  std::optional<BlockRow> block;        ///< of the kernel, in the middle of a picture
  std::vector<BlockRow> textbook;       ///< beside it; the mask is the first

  bool is_right() const {
    return host.is_right() && !launch_fault && (!gpu || gpu->score.is_right());
  }
};

/// basic, tiled-in, tiled-out as it is and with one output a thread, and cached, as the emulator
/// counts a block of each. Those that refuse the mask are left out.
std::vector<BlockRow> count_textbook(const Mask& mask);

/// The same on CUDA device `ordinal`, on that picture. Throws DeviceError where the device fails.
std::vector<TimeRow> time_textbook(const Trial& trial, int ordinal, int repeats);

/// Where a kernel is run beside the host.
struct GpuWish {
  CudaDevice device;
  std::string nvcc;       ///< the program
  bool is_asked = false;  ///< by name, so that it is an error if it fails
};

/// Runs the kernel on pictures of many sizes, or on lines or volumes, ghost cells 0 or outputs only
/// where the mask lies inside, and compares each result with sums in double precision; on the host,
/// where its memory is watched, and on a GPU if there is one, where a right kernel is timed. The
/// mask has the size that the person says, else that of the kernel's array, and several sizes where
/// the kernel is told the size; where the kernel is wrong under a size that nobody says, and right
/// under another that is usual, it is judged by that. Parameters whose names say nothing are
/// exchanged where only that makes the results right. Throws KernelRefused where the kernel cannot
/// be compiled, UsageError where the person's mask does not fit its array, NoVerdictError where
/// this machine cannot run it, DeviceError where a GPU that was asked for fails.
LessonVerdict judge(const KernelFile& file, const LessonWish& wish,
                    const std::optional<GpuWish>& gpu = {});

}  // namespace convfilt
