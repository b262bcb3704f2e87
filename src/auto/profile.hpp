/// The times of strategies on a device, as data: `convfilt tune` measures them, and a JSON file
/// keeps them.
///
/// The times are milliseconds as measured, not multiples of a copy: a choice compares times of one
/// device, so it needs no copy. Each curve belongs to one strategy, depth, channel count and
/// picture size; its points are ordered by multiply-adds per sample. These rules give the times
/// that were not measured:
///   - between two masks the time is linear in the multiply-adds, and beyond the last it is
///     proportional to them; in the transform family a curve of one point holds for every mask;
///   - between two sizes, and beyond the largest, it is linear in the pixels of the result;
///   - below the smallest size it is constant, since most multiprocessors idle then;
///   - pictures with more than one channel use the curves for colour.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/strategy.hpp"

namespace convfilt {

/// The rates of a CPU core.
struct CpuRates {
  std::string name;  ///< the processor's
  /// Seconds of one core per sample, for any mask: preparing rows, ending sums, memory.
  double sample_u8 = 0, sample_wide = 0;
  /// Seconds of one core per multiply-add; wide means 16 bits and floats.
  double multiply_add_u8 = 0, multiply_add_wide = 0;
  /// Seconds of one core per sample by transforms, for any mask.
  double transform_sample = 0;
};

/// A GPU, and its times besides kernels.
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
  /// No two curves of a profile have the same; times between sizes need two that differ.
  auto place() const { return std::tuple(strategy, depth, channels, kernel, pixels()); }
};

/// The place of a profile.
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

  /// Milliseconds of the strategy's kernels on this profile's GPU, with the kernel that `device`
  /// takes for the problem. If that kernel was not measured, another of the strategy stands for it;
  /// nothing if none was. Finite, and above 0 unless too small for a double.
  std::optional<double> ms_of(const Strategy& strategy, const Problem& problem,
                              const CudaDevice& device) const;

  /// The name for -v and warnings: the GPU's, else the CPU's.
  const std::string& name() const { return gpu ? gpu->name : cpu.name; }
};

/// Multiply-adds per sample, the unit of a strategy's curves.
double taps_of(const Strategy& strategy, const Problem& problem);

/// Reads a profile from JSON. Throws IoError with `path` and the place in it.
Profile parse_profile(std::string_view json, const std::string& path);

/// Throws IoError if the file cannot be read, and as parse_profile() does.
Profile load_profile(const std::string& path);

/// The file's text, one line per curve.
std::string to_json(const Profile& profile);

}  // namespace convfilt
