/// The work of one block of a strategy: by formula, and by the emulator's count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "src/lab/explain/architectures.hpp"
#include "src/lab/explain/count_reads.hpp"
#include "src/lab/explain/tile_axis.hpp"

namespace convfilt {

/// Samples that kernels ask for: read from global memory or through the texture unit, or ghost
/// cells that the border makes up instead of reading.
struct Reads {
  std::int64_t global = 0, made_up = 0;
  bool operator==(const Reads&) const = default;
};

/// The same number found in two ways; empty where there is no such way.
struct Compared {
  std::optional<Reads> formula, count;

  bool differ() const { return formula && count && *formula != *count; }

  /// The count, or else the formula's number. One of the two must be there.
  const Reads& value() const { return count ? *count : *formula; }
  bool known() const { return formula || count; }
};

/// How the rows of a plane lie in device memory.
struct RowLayout {
  std::int64_t bytes = 0;     ///< what a row's samples take
  std::int64_t pitch = 0;     ///< from row to row, as plans have it
  double lost_if_packed = 0;  ///< share of a row's first line that is another row's, on average
};

struct Explanation {
  const Strategy* strategy = nullptr;
  Tuning tuning;
  Problem asked;
  Problem problem;  ///< the same, but with the first part of a mask that is cut into parts
  int parts = 1;    ///< that the mask is cut into
  const Architecture* architecture = nullptr;
  RowLayout rows;

  std::optional<Geometry> geometry;  ///< with the lead of Mode::same
  Occupancy occupancy;
  TileAxes axes;    ///< the whole picture's
  Compared middle;  ///< what a block in the middle reads
  std::optional<Counts> middle_counts;

  /// The work of its warps; empty where the strategy has no formula for it.
  std::optional<WatchedBlock> watched;
  std::optional<WatchedBlock> packed;  ///< the same with packed rows, where the pitch is another

  Problem counted;  ///< `problem`, or a smaller picture where counting takes too long
  TileAxes counted_axes;
  Compared with_border;  ///< what all blocks read under the problem's own border
  Compared ghosts_out;   ///< the same with Border::constant, where ghost cells are not read

  /// Whether the texture unit brings all samples.
  bool by_texture() const { return middle_counts && middle_counts->texture_fetches > 0; }

  /// Each place where formula and count are not the same, in one sentence.
  std::vector<std::string> differences() const;
};

/// The geometry of blocks, with the lead of Mode::same. The strategy must have blocks.
Geometry block_geometry(const Strategy& strategy, const Problem& problem, const Tuning& tuning);

/// The outputs that count as a block's own, and their taps.
std::int64_t outputs_of(const Geometry& geometry);
std::int64_t taps_of(const Geometry& geometry, const Mask& mask);

/// The reads of all blocks, ghost cells left out, where blocks load their input tiles with the halo
/// and read nothing else, where they load a tile without halo and read each tap that leaves it,
/// where each thread reads all taps of one output, or whole loads for outputs side by side.
std::optional<Reads> reads_by_formula(const Geometry& g, const TileAxes& axes);

/// Samples that the strategy's blocks read from global memory for an output of one channel, by its
/// formula: far from the edges, and under all parts of a mask that is cut into parts. 0 where there
/// is no formula, or a library does the reading. The strategy must take the problem.
double reads_per_output(const Strategy& strategy, const Problem& problem, const Tuning& tuning);

/// Bytes that its threads ask global memory for, and write there, for an output: samples, the
/// output, and unfinished sums, which are added to or wait for the mask's next part. Empty where
/// reads_per_output() is 0.
std::optional<double> bytes_per_output(const Strategy& strategy, const Problem& problem,
                                       const Tuning& tuning);

/// Throws UsageError where the strategy refuses the problem.
Explanation explain(const Strategy& strategy, const Problem& problem, const Tuning& tuning,
                    const Architecture& architecture);

}  // namespace convfilt
