/// A way to convolve, and the same prepared for one problem.
#pragma once

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

enum class Setting { halo, tile, gemm, domain, accumulate, block, steps };

inline constexpr Setting kSettings[] = {Setting::halo,   Setting::tile,       Setting::gemm,
                                        Setting::domain, Setting::accumulate, Setting::block,
                                        Setting::steps};

// The words of a setting, in the order of these numbers; the first is what a strategy does unasked.
enum Halo { kSweeps, kRegions, kTwoStep };
enum Gemm { kLibrary, kStrassen };
enum Domain { kFrequency, kSpatial };
enum Accumulate { kInSteps, kAtomic };

/// What a setting is called and takes.
struct SettingInfo {
  std::string_view name;                    ///< as in --name
  std::string_view summary;                 ///< for help
  std::span<const std::string_view> words;  ///< empty: a whole number, lowest..highest
  int lowest = 0, highest = 0;
};

const SettingInfo& info_of(Setting setting);

/// A value for every setting. 0 is the first word, or, for numbers, leaves them to the strategy.
class Tuning {
 public:
  int operator[](Setting setting) const { return values_[std::size_t(setting)]; }
  int& operator[](Setting setting) { return values_[std::size_t(setting)]; }
  bool operator==(const Tuning&) const = default;

 private:
  std::array<int, std::size(kSettings)> values_{};
};

/// What differs from the default, e.g. "halo=regions, tile=16"; empty when nothing does.
std::string to_string(const Tuning& tuning);

/// What one block of a strategy does, in numbers: what its launch uses, and what `explain` tells.
/// The block lies in the middle of the picture, so that all its samples lie inside the image. Of a
/// mask above kMaxPartSide, it applies the first part.
struct Geometry {
  int block_columns = 0, block_rows = 0;  ///< threads
  int loading_threads = 0;                ///< that load the input tile; 0 = no tile is kept
  int computing_threads = 0;              ///< that compute outputs
  int in_columns = 0, in_rows = 0;        ///< input tile in samples; 0 = none is kept
  int out_columns = 0, out_rows = 0;      ///< output tile
  int lead_x = 0, lead_y = 0;    ///< columns of the input tile left of the output tile, rows above
  std::size_t shared_bytes = 0;  ///< static, as the kernel declares it
  double loads = 0;              ///< samples a block reads from global memory
  std::string loads_per_output;  ///< as a formula, e.g. "(tile + w - 1) * (tile + h - 1) / tile^2"
  std::string note;              ///< what else there is to say, in whole sentences; may be empty

  /// The distance from block to block, in outputs. It is less than the output tile where output
  /// tiles overlap, since blocks of the input add to all outputs around them.
  int step_x() const { return step(in_columns, out_columns); }
  int step_y() const { return step(in_rows, out_rows); }

 private:
  static int step(int in, int out) { return in > 0 && in < out ? in : out; }
};

/// Why so many blocks, which are counted in ints, are refused; empty when they are few enough.
inline std::string blocks_refuse(std::int64_t across, std::int64_t down) {
  return across * down <= INT_MAX
             ? ""
             : "there would be more than 2^31 blocks; use a larger --block, or leave it out";
}

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

/// A device failed or is missing; the message says what, where and the remedy.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
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

struct CudaDevice {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::size_t memory = 0;  ///< bytes
  double clock_hz = 0;     ///< of the multiprocessors, at most
  double memory_rate = 0;  ///< bytes a second that the memory's pins can move; 0 = not known
};

/// What a strategy's CUDA plans need that not every machine with a CUDA device has. `fft` is for
/// choosing: without cuFFT, prepare() says itself what is missing.
struct Needs {
  int major = 0;     ///< the least compute capability
  bool fft = false;  ///< cuFFT, but for --domain=spatial

  /// Why kernels with these needs do not run on that device, half a sentence; empty when they do.
  std::string refusal_of(const CudaDevice& device) const;
};

/// A const object in the registry.
struct Strategy {
  std::string_view name;     ///< as in --strategy
  std::string_view summary;  ///< one line for `list`
  Family family;
  Family spatial_family =
      Family::direct;  ///< of --domain=spatial, where the strategy has that setting
  std::span<const Setting> settings = {};  ///< what can be chosen; empty for most

  /// Why this problem cannot be done so, in one sentence with a remedy; empty when it can. Callers
  /// ask through refusal().
  std::string (*refuses)(const Problem&, const Tuning&);

  /// What one block does; null where there is nothing to draw.
  Geometry (*geometry)(const Problem&, const Tuning&) = nullptr;

  /// One for each kind of device it runs on; null elsewhere.
  std::unique_ptr<Plan> (*prepare_cpu)(const Problem&, const PlanOptions&) = nullptr;
  std::unique_ptr<Plan> (*prepare_emulator)(const Problem&, const PlanOptions&) = nullptr;
  std::unique_ptr<Plan> (*prepare_cuda)(const Problem&, const PlanOptions&) = nullptr;

  Needs needs = {};

  /// Which of its kernels filters the problem on that device, in the word that a profile uses; null
  /// for a strategy whose kernels all take about the same time.
  std::string_view (*kernel_for)(const Problem&, const CudaDevice&) = nullptr;

  /// Multiply-adds of a sample, by which times are interpolated between masks; null where its
  /// family says them: the mask's weights, or, separable, a row and a column for each term.
  double (*multiply_adds)(const Problem&) = nullptr;

  bool runs_on(DeviceKind kind) const;
  bool has(Setting setting) const;
  Family family_of(const Tuning& tuning) const;

  /// Why this problem cannot be done with this tuning: the mode, a setting that the strategy lacks,
  /// or what `refuses` says.
  std::string refusal(const Problem&, const Tuning& = {}) const;

  /// Why its kernels do not run on that device, half a sentence; empty when they do.
  std::string refusal_of(const CudaDevice& device) const { return needs.refusal_of(device); }

  /// Throws std::invalid_argument when the strategy does not run on `kind` or refuses the problem,
  /// DeviceError when it does not run on the CUDA device.
  std::unique_ptr<Plan> prepare(const Problem&, DeviceKind kind, const PlanOptions& = {}) const;
};

}  // namespace convfilt
