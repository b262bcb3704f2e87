/// A way to convolve, and the same prepared for one problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "geometry.hpp"
#include "problem.hpp"
#include "tuning.hpp"

namespace convfilt {

/// Where a strategy runs. The emulator runs CUDA kernels' own source on the CPU.
enum class DeviceKind { cpu, emulator, cuda };

std::string_view name_of(DeviceKind kind);

/// Strategies of one family share an arithmetic, and its bound.
enum class Family {
  direct,     ///< every weight times every sample (arithmetic.hpp); the same bytes on every device
  separable,  ///< row passes, then column passes, for masks of rank 1 to 3; the same bytes
              ///< everywhere
  reordered,  ///< as direct, but sums in any order: 8 bits as direct, others may differ by a
              ///< rounding
  transform,  ///< another algebra, in single precision: within a step, bytes may differ by device
};

inline constexpr Family kFamilies[] = {Family::direct, Family::separable, Family::reordered,
                                       Family::transform};

std::string_view name_of(Family family);

/// The largest difference from the real-valued convolution, in words for `list`.
std::string_view bound_of(Family family);

/// Padded rows start at whole L2 lines, two 64-byte DRAM bursts each, so that a warp's row of reads
/// is whole bursts.
inline constexpr std::ptrdiff_t kPitchBytes = 128;

/// How a plan shall run.
struct PlanOptions {
  int device = 0;                ///< CUDA ordinal
  int threads = 0;               ///< CPU and emulator; 0 = all cores
  bool padded_pitch = true;      ///< device rows padded to kPitchBytes
  std::size_t memory_limit = 0;  ///< device bytes the plan may take; 0 = what is free
  Tuning tuning{};               ///< only of settings that the strategy has
};

/// Milliseconds of one run. Upload and download are 0 where the pixels never leave host memory.
struct Timing {
  double upload_ms = 0, kernel_ms = 0, download_ms = 0;
  int bands = 1;  ///< pieces the picture was filtered in
};

/// What the emulator counted; all zero elsewhere.
struct Counts {
  std::uint64_t global_reads = 0;  ///< samples of the input read by kernels
  std::uint64_t shared_reads = 0;  ///< samples read from shared memory
  std::uint64_t barriers = 0;      ///< __syncthreads passed, counted once a block
  std::uint64_t ghost_cells = 0;   ///< samples made up by the border instead of read
  std::uint64_t blocks = 0;        ///< of kernels that read the input
  std::uint64_t atomic_adds = 0;
};

/// A strategy prepared for a problem: its arithmetic, buffers and device. Not thread-safe.
class Plan {
 public:
  virtual ~Plan() = default;

  /// Filters a picture of the problem's shape and depth. `in` and `out` must not overlap.
  /// Throws DeviceError when the device fails.
  virtual Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) = 0;

  /// Kernel milliseconds of that many runs on pixels that are already on the device, as planes,
  /// nothing copied; after some to warm up. Empty where the plan has no device memory, or too
  /// little. Without `in`, the samples are whatever lies in the device's memory.
  virtual std::vector<double> time_resident(PictureView<const std::byte> /*in*/, int /*repeats*/) {
    return {};
  }

  /// What the emulator counted in the last run.
  virtual Counts counts() const { return {}; }
};

struct CudaDevice;

/// What a strategy's CUDA plans need that not every machine with a CUDA device has. `fft` is for
/// choosing: without cuFFT, prepare() says itself what is missing.
struct Needs {
  int major = 0;     ///< the least compute capability
  bool fft = false;  ///< cuFFT, but for --domain=spatial
};

/// A const object in the registry.
struct Strategy {
  std::string_view name;     ///< as in --strategy
  std::string_view summary;  ///< one line for `list`
  Family family;
  Family spatial_family;              ///< of --domain=spatial, where the strategy has that setting
  std::span<const Setting> settings;  ///< what can be chosen; empty for most

  /// Why this problem cannot be done so, in one sentence with a remedy; empty when it can. To be
  /// asked through refusal().
  std::string (*refuses)(const Problem&, const Tuning&);

  /// What one block does; null where there is nothing to draw.
  Geometry (*geometry)(const Problem&, const Tuning&);

  /// One for each kind of device it runs on; null elsewhere.
  std::unique_ptr<Plan> (*prepare_cpu)(const Problem&, const PlanOptions&);
  std::unique_ptr<Plan> (*prepare_emulator)(const Problem&, const PlanOptions&);
  std::unique_ptr<Plan> (*prepare_cuda)(const Problem&, const PlanOptions&);

  Needs needs = {};

  bool runs_on(DeviceKind kind) const;
  bool has(Setting setting) const;
  Family family_of(const Tuning& tuning) const;

  /// Why this problem cannot be done with this tuning: the mode, a setting that the strategy lacks,
  /// or what `refuses` says.
  std::string refusal(const Problem&, const Tuning& = {}) const;

  /// Why its kernels do not run on that device, half a sentence; empty when they do.
  std::string refusal_of(const CudaDevice& device) const;

  /// Throws std::invalid_argument when it does not run on `kind` or refuses the problem,
  /// DeviceError when it does not run on the CUDA device.
  std::unique_ptr<Plan> prepare(const Problem&, DeviceKind kind, const PlanOptions& = {}) const;
};

}  // namespace convfilt
