/// The terms of the textbook's kernels: the radius, the outputs, and a ghost cell.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The radius r of a mask: how many columns of the halo lie left of an output tile, and how many
/// rows above it. A centred mask of 2r + 1 columns has as many on the right. Other masks, and parts
/// of large ones, have w - 1 - r there.
struct Radius {
  int x, y;
};

template <class T>
CONVFILT_DEVICE inline Radius radius_of(const MaskPart<T>& mask) {
  return {-mask.dx, -mask.dy};
}

/// kSide, of which kernels have an instance each: the side of a square mask, 3, 5, 7 or 9, that the
/// compiler knows, so that no loop over taps is left; 0 for all other masks. Masks that are cut
/// into parts have no square part that small.
template <int kSide>
using Side = std::integral_constant<int, kSide>;

/// Calls f(Side<...>{}) for a mask, or for any where `known` is false.
template <class F>
void with_side(const Sides& mask, bool known, F f) {
  switch (known && mask.width == mask.height ? mask.width : 0) {
    case 3: return f(Side<3>{});
    case 5: return f(Side<5>{});
    case 7: return f(Side<7>{});
    case 9: return f(Side<9>{});
  }
  f(Side<0>{});
}

/// Calls f<T, kSide>() for pictures of that depth.
template <class F>
void with_types(Depth depth, const Sides& mask, bool known, F f) {
  with_depth(depth, [&]<class T>(TypeTag<T>) {
    with_side(mask, known, [&](auto side) { f.template operator()<T, side()>(); });
  });
}

template <int kSide, class T>
CONVFILT_DEVICE inline Sides sides_of(const MaskPart<T>& mask) {
  return kSide ? Sides{kSide, kSide} : Sides{mask.width, mask.height};
}

/// How many turns of a loop over a mask's row or column are unrolled.
constexpr int turns(int side, int otherwise = 1) {
  return side ? side : otherwise;
}

/// The threads of the largest block, which is CUDA's limit.
inline constexpr int kMostThreads = 1024;

/// The side of an output tile by default, which the compiler knows where kSide is not 0.
inline constexpr int kTile = 16;
inline bool is_default_tile(const TileSides& tile) {
  return tile.columns == kTile && tile.rows == kTile;
}

/// The most threads of a block that has one for each output of its tile.
constexpr int threads_of(int side) {
  return side ? kTile * kTile : kMostThreads;
}

/// The outputs of a launch. A mask above 31 x 31 is launched part by part, and `partial` carries
/// the sums from launch to launch.
template <class T, int kSide>
struct Outputs {
  PlaneView<T> plane;
  PlaneView<SumOf<T>> partial;

  CONVFILT_DEVICE bool has(int x, int y) const { return x < plane.width && y < plane.height; }

  /// Zero, or the sum so far.
  CONVFILT_DEVICE SumOf<T> begin(const MaskPart<T>& mask, int x, int y) const {
    return kSide ? SumOf<T>(0) : begin_sum(mask, partial, x, y);
  }
  /// Scales, rounds and stores the sum, or keeps it for the next part.
  CONVFILT_DEVICE void end(const MaskPart<T>& mask, int x, int y, SumOf<T> sum) const {
    if constexpr (kSide == 0) return end_sum(mask, partial, plane, x, y, sum);
    finish(mask.finish, sum, *plane.at(x, y));
    count_write(plane, x, y);
  }
};

template <class T, int kSide>
Outputs<T, kSide> outputs_of(const LaunchJob& job) {
  return {job.output<T>(), job.sums<T>()};
}

/// The sample at (x, y), or what the border puts there outside the image: another sample, or a
/// ghost cell, which the emulator counts.
template <class T>
CONVFILT_DEVICE inline T sample_or_ghost(const PlaneView<const T>& in, int x, int y, Border border,
                                         T ghost) {
  const int in_x = border_index(border, x, in.width), in_y = border_index(border, y, in.height);
  if (in_x >= 0 && in_y >= 0) return load(in, in_x, in_y);
  count_ghost_cell();
  return ghost;
}

/// Where a kernel reads weights and samples: weights in constant memory, as arguments, or in global
/// memory; samples through both caches, or past L1.
template <class T, bool kMaskInGlobal = false, bool kThroughL1 = true>
struct Memory {
  const SumOf<T>* weights = nullptr;  ///< in global memory

  CONVFILT_DEVICE SumOf<T> weight(const MaskPart<T>& mask, int k) const {
    if constexpr (kMaskInGlobal) return load_weight(weights, k);
    return weight_of(mask, k);
  }
  CONVFILT_DEVICE T sample(const PlaneView<const T>& in, int x, int y, int i, int j) const {
    if constexpr (kThroughL1) return load(in, x, y, i, j);
    return load_past_l1(in, x, y, i, j);
  }
};

/// Calls f(Memory<...>) for the settings.
template <class T, class F>
void with_memory(const LaunchJob& job, F f) {
  const auto* weights = static_cast<const SumOf<T>*>(job.weights);
  const bool through_l1 = job.tuning[Setting::cache] == kAllCaches;
  if (weights)
    through_l1 ? f(Memory<T, true, true>{weights}) : f(Memory<T, true, false>{weights});
  else
    through_l1 ? f(Memory<T>{}) : f(Memory<T, false, false>{});
}

/// Adds the taps of an output at the image's edge one by one: `tap(i, j)` is what lies under weight
/// (i, j).
template <class T, class Tap, class From = Memory<T>>
CONVFILT_DEVICE inline SumOf<T> add_taps_at_edge(const MaskPart<T>& mask, SumOf<T> sum, Tap tap,
                                                 From memory = {}) {
  CONVFILT_UNROLL(1)
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sum = 0;
    CONVFILT_UNROLL(1)
    for (int i = 0; i < mask.width; ++i)
      row_sum = multiply_add(memory.weight(mask, j * mask.width + i), tap(i, j), row_sum);
    sum += row_sum;
  }
  return sum;
}

/// The work of one block in kernels that keep no tile in shared memory: columns x rows threads that
/// each read all taps of one output.
inline Geometry one_output_a_thread(const Problem& problem, int columns, int rows) {
  const Sides mask = first_part(problem.mask);
  Geometry g;
  g.block_columns = g.out_columns = columns;
  g.block_rows = g.out_rows = rows;
  g.computing_threads = columns * rows;
  g.loads = double(g.computing_threads) * mask.width * mask.height;
  g.loads_per_output = "w * h";
  return g;
}

/// The side of the largest square block.
inline constexpr int kSquare = 32;
static_assert(kSquare * kSquare <= kMostThreads, "a block holds at most 1,024 threads");

/// A mask of one row gets blocks of one row. By default they are short, since the last block of a
/// row has few outputs, and no longer than the row.
inline constexpr int kLine = 256;
inline bool is_line(const Problem& p) {
  return p.mask.height == 1;
}

/// Why a mask of one column gets no blocks of one column.
inline constexpr const char kNoColumns[] =
    ", since a block of one column would read memory across rows, uncoalesced";

/// The output tile that --tile asks for, or by default one of so many columns and rows.
inline TileSides output_tile(const Problem& p, const Tuning& tuning, int side = kTile) {
  const TileSides asked = TileSides::of(tuning[Setting::tile]);
  if (!is_line(p)) return asked.columns ? asked : TileSides{side, side};
  return {asked.columns ? asked.columns : std::clamp(p.out_width(), 1, kLine), 1};
}

/// Why a block cannot have a thread for each sample of an output tile; empty when it can.
inline std::string tile_refuses(const Problem& p, const Tuning& tuning) {
  const TileSides tile = TileSides::of(tuning[Setting::tile]);
  if (is_line(p) && tile.rows == tile.columns) return "";
  if (!is_line(p) && tile.columns <= kSquare && tile.rows <= kSquare) return "";
  return std::string(
             "a block has a thread for each sample of the tile, at most 32 x 32; only masks of one "
             "row get blocks of one row, with --tile up to 1024") +
         kNoColumns;
}

/// Reads per output, as a formula, where the samples under an output tile are read once.
inline std::string input_tile_formula(const Problem& p, const TileSides& tile) {
  if (is_line(p)) return "(tile + w - 1) / tile";
  if (tile.columns == tile.rows) return "(tile + w - 1) * (tile + h - 1) / tile^2";
  const std::string columns = std::to_string(tile.columns), rows = std::to_string(tile.rows);
  return "(" + columns + " + w - 1) * (" + rows + " + h - 1) / (" + columns + " * " + rows + ")";
}

}  // namespace convfilt::CONVFILT_BACKEND
