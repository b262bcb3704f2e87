/// A strategy is a way to convolve. It prepares plans.
#pragma once

#include <any>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/plan.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

enum class Setting {
  halo,
  tile,
  outputs,
  idle,
  mask_memory,
  cache,
  texture,
  gemm,
  domain,
  accumulate,
  block,
  part,
  steps
};

inline constexpr Setting kSettings[] = {
    Setting::halo,  Setting::tile,    Setting::outputs, Setting::idle,   Setting::mask_memory,
    Setting::cache, Setting::texture, Setting::gemm,    Setting::domain, Setting::accumulate,
    Setting::block, Setting::part,    Setting::steps};

// The words of a setting, in the order of these numbers. The first is the default.
enum Halo { kSweeps, kRegions, kTwoStep };
enum IdleThreads { kLast, kRim };
enum MaskMemory { kConstant, kGlobal };
enum Caches { kAllCaches, kPastL1 };
enum TextureMemory { kLinear, kArray };
enum Gemm { kLibrary, kStrassen };
enum Domain { kFrequency, kSpatial };
enum Accumulate { kAsUsual, kInSteps, kAtomic, kInDivisions };

/// The name of a setting, and the values that it takes.
struct SettingInfo {
  std::string_view name;                    ///< as in --name
  std::string_view summary;                 ///< for help
  std::span<const std::string_view> words;  ///< empty for numbers, lowest..highest
  int lowest = 0, highest = 0;
  bool sides = false;  ///< a number may be two, as in 32x8: TileSides
};

const SettingInfo& info_of(Setting setting);

/// Columns and rows of a tile in one number: --tile 32x8 is 32 + 8 * 65536, and --tile 16 is 16.
struct TileSides {
  int columns = 0, rows = 0;

  constexpr static TileSides of(int value) {
    const int columns = value & 0xffff, rows = value >> 16;
    return {columns, rows ? rows : columns};
  }
  constexpr int value() const { return rows == columns ? columns : columns | rows << 16; }
};

/// A value for every setting. 0 is the first word, or leaves a number to the strategy.
class Tuning {
 public:
  constexpr int operator[](Setting setting) const { return values_[std::size_t(setting)]; }
  constexpr int& operator[](Setting setting) { return values_[std::size_t(setting)]; }
  bool operator==(const Tuning&) const = default;

 private:
  std::array<int, std::size(kSettings)> values_{};
};

/// The values that differ from the default, e.g. "halo=regions, tile=16"; empty when none does.
std::string to_string(const Tuning& tuning);

/// How blocks whose output tiles overlap are added up along one axis.
struct Adding {
  int steps = 0;           ///< K: block b is added in step b mod K; 0 = output tiles do not overlap
  int divisions = 0;       ///< of a schedule, by which launches take intervals; 0 = there is none
  std::vector<int> parts;  ///< weights of each part of the mask, from its first column or row on
  int sums = 0;  ///< q: intervals of outputs that the parts reach from a block, of which part m,
                 ///< counted from the mask's end, reaches every q-th; 0 = each part is launched
                 ///< alone
};

/// The work of one block of a strategy, in numbers. Launches use them, and `explain` shows them.
/// The block lies in the middle of the picture, so that all its samples lie inside the image. If
/// the mask is cut into parts, the block applies the first part.
struct Geometry {
  int block_columns = 0, block_rows = 0;  ///< threads
  int loading_threads = 0;                ///< threads that load the input tile; 0 = no tile is kept
  int computing_threads = 0;              ///< threads that compute outputs
  int in_columns = 0, in_rows = 0;        ///< input tile in samples; 0 = none is kept
  int out_columns = 0, out_rows = 0;      ///< output tile
  int lead_x = 0, lead_y = 0;  ///< from the input tile's first column and row to the output tile's
  int wide_columns = 0;  ///< samples that a thread reads of each row at once, for outputs side by
                         ///< side, where all lie in the image; 0 = it reads one by one
  std::size_t shared_bytes = 0;  ///< static, as the kernel declares it
  double loads = 0;       ///< samples a block reads from global memory, and weights that lie there
  double mask_loads = 0;  ///< the weights among them, of 4 bytes
  std::string loads_per_output;  ///< as a formula, e.g. "(tile + w - 1) * (tile + h - 1) / tile^2"
  double adds = 0;               ///< a block's atomic additions to a plane of sums
  double sum_accesses = 0;       ///< its reads and writes there that are no atomic additions
  int sum_bytes = 0;             ///< of a sum there; 0 = outputs are computed at once
  std::string note;              ///< what else there is to say, in whole sentences; may be empty
  Adding adding_x, adding_y;     ///< along both axes, for the whole mask
  int private_sums = 1;          ///< planes of sums
  bool atomic = false;           ///< whether blocks that run at once may add to the same outputs
  bool always_padded = false;    ///< whether rows are padded even if a plan packs its rows

  /// The distance from block to block, in outputs. It is less than the output tile where blocks of
  /// the input add to all outputs around them, because output tiles overlap then.
  int step_x() const { return step(in_columns, out_columns); }
  int step_y() const { return step(in_rows, out_rows); }

 private:
  static int step(int in, int out) { return in > 0 && in < out ? in : out; }
};

/// Why that many blocks are refused, if an int cannot count them; empty when they are few enough.
inline std::string blocks_refuse(std::int64_t across, std::int64_t down) {
  return across * down <= INT_MAX
             ? ""
             : "there would be more than 2^31 blocks; use a larger --block, or leave it out";
}

/// Where a strategy runs. The emulator runs the source of the CUDA kernels on the CPU.
enum class DeviceKind { cpu, emulator, cuda };

std::string_view name_of(DeviceKind kind);

/// Strategies of one family share an arithmetic and its bound.
enum class Family {
  direct,     ///< every weight times every sample (arithmetic.hpp); the same bytes on every device
  separable,  ///< row passes, then column passes, for masks of rank 1 to 3; the same bytes on
              ///< every device
  reordered,  ///< as direct, but with sums in any order: 8 bits have the direct bytes, others may
              ///< differ by a rounding
  transform,  ///< another algebra, in single precision: within a step, bytes may differ by device
};

inline constexpr Family kFamilies[] = {Family::direct, Family::separable, Family::reordered,
                                       Family::transform};

std::string_view name_of(Family family);

/// The largest difference from the real-valued convolution, in words for `list`.
std::string_view bound_of(Family family);

/// The same for a strategy that takes no other depths than these.
std::string bound_of(Family family, std::span<const Depth> depths);

/// Padded rows start at L2 lines, which are two DRAM bursts of 64 bytes each, so that a warp that
/// reads along a row reads whole bursts.
inline constexpr std::ptrdiff_t kPitchBytes = 128;

/// The blocks of a launch of which the emulator counts what their warps do, which takes time.
enum class Watch {
  nothing,
  middle,  ///< the block in the middle of each grid, and no other block is run
  first,   ///< that of the first launch that reads the input, and no block of later launches
  all,
};

/// Transforms of a picture's blocks, for plans that filter the same pictures one after the other.
/// The first of them that takes a whole picture keeps the transforms that the others find here,
/// where all cut it into the same blocks; plans without such blocks ignore it. Whoever runs the
/// plans calls next_picture() before each picture, and runs them one at a time.
class SharedTransforms {
 public:
  void next_picture() { ++picture_; }
  int picture() const { return picture_; }

  std::any kept;            ///< what plans of a backend keep, in a type that they know
  int made = 0, found = 0;  ///< planes whose blocks were transformed, and those that were not

 private:
  int picture_ = 0;
};

/// How a plan runs.
struct PlanOptions {
  int device = 0;                  ///< CUDA ordinal
  int threads = 0;                 ///< on the CPU and in the emulator; 0 = all cores
  bool padded_pitch = true;        ///< whether device rows are padded to kPitchBytes
  std::size_t memory_limit = 0;    ///< device bytes the plan may take; 0 = what is free
  Tuning tuning{};                 ///< settings that the strategy has; others must be 0
  Watch watch = Watch::nothing;    ///< in the emulator alone
  Recording* recording = nullptr;  ///< where the emulator writes to; it must outlive the plan
  bool skips_zeros = false;        ///< whether run_resident() takes no sample under a weight of 0
  std::shared_ptr<SharedTransforms> transforms{};  ///< null where no other plan has the pictures
};

/// Where a block lies, and how the rows of its picture do. All samples that it asks for lie in the
/// image.
struct BlockPlace {
  int x = 0, y = 0;  ///< the output tile's first output
  bool padded_pitch = true;
};

struct CudaDevice {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::size_t memory = 0;  ///< bytes
  double clock_hz = 0;     ///< the multiprocessors' highest
  double memory_rate = 0;  ///< bytes a second that the memory's pins can move; 0 = not known
};

/// Needs of a strategy's CUDA plans that not every machine with a CUDA device meets. `fft` only
/// helps to choose a strategy: without cuFFT, prepare() itself says what is missing.
struct Needs {
  int major = 0;     ///< the least compute capability
  bool fft = false;  ///< cuFFT, except for --domain=spatial

  /// Why kernels with these needs do not run on that device, in half a sentence; empty when they
  /// do.
  std::string refusal_of(const CudaDevice& device) const;
};

/// A way to convolve: a const object. Its file declares it for each backend that the file is
/// compiled for, and the registry joins these.
struct Strategy {
  using Prepare = std::unique_ptr<Plan> (*)(const Problem&, const PlanOptions&);

  std::string_view name;     ///< as in --strategy
  std::string_view summary;  ///< one line for `list`
  Family family;

  /// Why this strategy refuses the problem, in one sentence with a remedy; empty when it takes it.
  /// Callers ask through refusal().
  std::string (*refuses)(const Problem&, const Tuning&);

  /// Makes plans for the backend that the strategy's file is compiled for.
  Prepare make_plan = nullptr;

  /// The work of one block; null where there is nothing to draw.
  Geometry (*geometry)(const Problem&, const Tuning&) = nullptr;

  /// The counts that such a block should have, by formula; null, or empty for this problem, where
  /// there is no formula.
  std::optional<Counts> (*block_counts)(const Problem&, const Tuning&, const BlockPlace&) = nullptr;

  /// The registry sets these: they make plans for the kinds of devices that the strategy runs on,
  /// and are null for other kinds.
  Prepare prepare_cpu = nullptr, prepare_emulator = nullptr, prepare_cuda = nullptr;

  Needs needs = {};
  std::initializer_list<Setting> settings = {};  ///< the settings that it has; most have none
  std::span<const Tuning> also_compared = {};    ///< what a comparison shows beside the default
  Family spatial_family =
      Family::direct;  ///< for --domain=spatial, where the strategy has that setting

  /// Says which of its kernels filters the problem on that device, in the word that a profile uses.
  /// It is null for a strategy whose kernels all take about the same time.
  std::string_view (*kernel_for)(const Problem&, const CudaDevice&) = nullptr;

  /// Multiply-adds for each sample, by which times are interpolated between masks. It is null where
  /// the family determines them: the mask's weights, or in the separable family a row and a column
  /// for each term.
  double (*multiply_adds)(const Problem&) = nullptr;

  bool runs_on(DeviceKind kind) const;
  bool has(Setting setting) const;
  Family family_of(const Tuning& tuning) const;

  /// Why this problem is refused with this tuning: for its mode, for a setting that the strategy
  /// lacks or a value out of range, or for what `refuses` says. Empty when it is not refused.
  std::string refusal(const Problem&, const Tuning& = {}) const;

  /// Why its kernels do not run on that device, in half a sentence; empty when they do.
  std::string refusal_of(const CudaDevice& device) const { return needs.refusal_of(device); }

  /// Makes a plan. Throws std::invalid_argument when the strategy does not run on `kind` or refuses
  /// the problem, and DeviceError when it does not run on the CUDA device.
  std::unique_ptr<Plan> prepare(const Problem&, DeviceKind kind, const PlanOptions& = {}) const;
};

}  // namespace convfilt
