/// How long strategies take on a device: data, which `convfilt tune` measures and a JSON file
/// keeps.
///
/// The file holds times in milliseconds as they were measured, not multiples of a copy: a choice
/// compares times of one device with each other, and so needs no copy to be right. Each curve
/// belongs to one strategy, depth, channel count and picture size; its points go by the
/// multiply-adds that a sample takes. Times that were not measured follow from these rules:
///   - between two masks the time is linear in the multiply-adds, and beyond the last one it is
///     proportional to them; in the transform family, a curve of one point stands for every mask;
///   - between two sizes it is linear in the pixels of the result, and so beyond the largest;
///   - a smaller picture than the smallest takes as long, since most multiprocessors idle then;
///   - pictures of more than one channel all go by the curves for colour.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/strategy.hpp"

namespace convfilt {

/// What a core of the CPU takes.
struct CpuRates {
  std::string name;  ///< the processor's
  /// Seconds of one core for a sample, whatever the mask: rows prepared, sums ended, memory.
  double sample_u8 = 0, sample_wide = 0;
  /// Seconds of one core for a multiply-add; wide is 16 bits and floats.
  double multiply_add_u8 = 0, multiply_add_wide = 0;
  /// Seconds of one core for a sample by transforms, whatever the mask.
  double transform_sample = 0;
};

/// What a GPU is, and what it takes besides kernels.
struct GpuRates {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  double copy_rate = 0;        ///< bytes a second, read and written, of a copy inside its memory
  double context_seconds = 0;  ///< until a CUDA context is there: driver start, module load
  double upload_rate = 0, download_rate = 0;  ///< bytes a second, from memory that is not pinned
};

struct CostPoint {
  double taps = 0, ms = 0;  ///< multiply-adds of a sample; kernels alone
};

struct CostCurve {
  std::string strategy;
  Depth depth = Depth::u8;
  int channels = 1;
  std::string kernel;  ///< the word of Strategy::kernel_for; empty for a strategy without one
  int width = 0, height = 0;
  std::vector<CostPoint> points;  ///< by rising taps; one at least

  double pixels() const { return double(width) * height; }
};

/// Where a profile was found.
enum class Origin {
  shipped,  ///< with the program
  users,    ///< in the user's cache, where `convfilt tune` writes
  named,    ///< in the folder that CONVFILT_PROFILES names
};

struct Profile {
  std::string path;  ///< the file's
  Origin origin = Origin::shipped;
  std::string version;  ///< the program's that measured it; empty where the file does not say
  CpuRates cpu;
  std::optional<GpuRates> gpu;
  std::vector<CostCurve> curves;

  /// Milliseconds that the strategy's kernels take on this profile's GPU, with the kernel that
  /// `device` takes for the problem. Where that one was not measured, another of the strategy
  /// stands for it. Nothing where none was; else finite and above 0 or, where that is too little
  /// for a double, 0.
  std::optional<double> ms_of(const Strategy& strategy, const Problem& problem,
                              const CudaDevice& device) const;

  /// What -v and warnings call it: the GPU's name, else the CPU's.
  const std::string& name() const { return gpu ? gpu->name : cpu.name; }
};

/// Multiply-adds of a sample, by which a strategy's curves go.
double taps_of(const Strategy& strategy, const Problem& problem);

/// Reads a profile from JSON. Throws IoError, which names `path` and the place in it.
Profile parse_profile(std::string_view json, const std::string& path);

/// Throws IoError where the file cannot be read, and as parse_profile() does.
Profile load_profile(const std::string& path);

/// The file's text, a curve a line.
std::string to_json(const Profile& profile);

}  // namespace convfilt
