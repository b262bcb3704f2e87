/// A comparison of strategies and its findings: the rows, the devices, the choice of `auto`.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/strategy.hpp"
#include "src/filter/convolver.hpp"
#include "src/lab/compare/contenders.hpp"
#include "src/lab/compare/device_limits.hpp"
#include "src/lab/compare/quartiles.hpp"

namespace convfilt {

/// The times of a row on a device; the emulator has none.
struct Times {
  Quartiles ms;  ///< kernels alone, pixels on the device
  int runs = 0;
  double pixels_per_second = 0;         ///< pixels of the result
  double bytes_per_second = 0;          ///< picture read once, result written once
  double copies = 0;                    ///< time as a multiple of a copy of the same bytes
  double intensity = 0;                 ///< operations of the direct method, two a tap, per byte
  std::optional<double> own_intensity;  ///< the same per byte that the strategy's threads ask for,
                                        ///< where a formula says how many those are
  double flops = 0;                     ///< those operations per second
  double roofline = 0;                  ///< the device's best possible time, as a share of this one
  bool memory_bound = true;             ///< whether a copy, not arithmetic, sets that best time
  std::optional<double> basic;          ///< how many times as fast as `basic` on this device
  std::optional<double> best;  ///< how many times the time of the fastest row of this device
};

/// The emulator's counts per sample of the result: in the row's own run, or if that is on a GPU, in
/// one block far from the edges. It counts nothing in library calls.
struct Counted {
  double global_reads = 0, shared_reads = 0, ghost_cells = 0;
  double atomic_adds = 0;
  double reuse = 0;     ///< taps in the image over global reads and atomic additions; 0 where it
                        ///< says nothing
  double barriers = 0;  ///< per block
  double texture_fetches = 0;
  std::optional<double> shared_writes{},
      sectors{};  ///< in one block far from the edges, where a
                  ///< formula stands beside the count; sectors of 32
                  ///< bytes that warps ask for, caches or not
};

struct Accuracy {
  double largest = 0;  ///< difference from the real-valued result, in the unit of unit_of()
  std::size_t samples = 0, of = 0;  ///< how many were checked, of how many
  int rows = 0;                     ///< whole rows of the result among those checked
  std::optional<double> bound;      ///< the largest difference that the family allows
  std::optional<double> differing;  ///< share of samples that differ from those of `cpu`
  int rows_compared = 0;            ///< so many of the result with `cpu`; 0 = all
  std::optional<double> differing_from_family;  ///< from `separable` on the CPU, in that family
};

/// One contender on one device.
struct Row {
  std::string contender;  ///< name and settings
  Family family = Family::direct;
  Location location;
  bool by_auto = false;       ///< what `auto` takes
  bool refused = false;       ///< by the strategy
  std::string refusal;        ///< why there are no figures: why it refuses, or what failed
  int width = 0, height = 0;  ///< the picture it ran on: the whole, or a piece from its middle
  int tile_columns = 0, tile_rows = 0;  ///< outputs of a block of a kernel that has --tile
  std::optional<Times> times;
  std::optional<Counted> counted;
  std::optional<Accuracy> accuracy;
};

/// How the result breaks its family's bound: it is too far from the real-valued one, or has other
/// bytes than the family gives on the CPU. Empty where it keeps the bound. `unit` is that of
/// Accuracy::largest.
std::string broken_bound(const Row& row, const std::string& unit);

/// The unit of Accuracy::largest: "steps", or for floats the formula of unit_of().
std::string difference_unit(const Problem& problem);

struct DeviceFacts {
  Location location;
  Peak peak;
  double copy_ms = 0;           ///< a copy of as many bytes as the picture and its result
  double bytes_per_second = 0;  ///< of that copy, read and written
};

struct Comparison {
  Problem problem;
  double sample_unit = 1;  ///< Accuracy::largest's unit, in samples
  std::vector<DeviceFacts> devices;
  std::string auto_choice;  ///< "separable on cpu (why)", or why there is none
  std::vector<Row> rows;
};

/// The row of that contender on that device; null where the comparison has none.
const Row* row_like(const Comparison& comparison, const Row& row);

/// The first row of each contender on each device, of the rows that have `value` above 0.
std::vector<const Row*> distinct_rows(
    std::span<const Comparison* const> comparisons,
    const std::function<double(const Row&)>& value = [](const Row&) { return 1; });

/// The convolver's strategy is not asked for; each contender has its own.
struct CompareOptions : ConvolverOptions {
  std::vector<Contender> contenders;
  int repeats = 21;  ///< at most; as few as 3 where more would exceed the row's patience, and one
                     ///< on a GPU where one alone does
  std::optional<double> row_patience;  ///< seconds for a row's runs, by default 1 on a GPU and 0.1
                                       ///< elsewhere, where pieces of the picture are run if the
                                       ///< whole would take longer
  double reference_patience = 4;       ///< seconds for the bytes of `cpu`, with which others are
                                  ///< compared; where all would take longer, only rows from the
                                  ///< middle are
};

/// The strategy that speeds are multiples of.
inline constexpr std::string_view kBaseline = "basic";

/// Reads of the picture an output, by whatever way.
inline double reads_of(const Counted& c) {
  return c.global_reads + c.texture_fetches;
}

/// "emboss3 3x3": how charts and messages name a mask.
std::string mask_label(const Mask& mask);

/// Whether the name says what kind of mask it is, so that the sides say the rest.
bool is_of_a_kind(const Mask& mask);

/// "3x3", or "emboss3 3x3" if it is not of a kind.
std::string short_label(const Mask& mask);

}  // namespace convfilt
