/// How separable_tensor.cu cuts a picture into blocks, and what one of them is.
#pragma once

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "kernels/separable_tensor/mask.hpp"
#include "kernels/separable_tensor/tile.hpp"
#include "kernels/separable_tensor/warpgroup/warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Calls f with the groups that a kernel is compiled for as a constant: so many, or the next more.
template <int kTerms, class F>
auto with_groups(int groups, F f) {
  if constexpr (kTerms == 1) {
    if (groups <= 2) return f(std::integral_constant<int, 2>());
    if (groups > 5) return f(std::integral_constant<int, kMostGroups>());
  }
  if (groups <= 3) return f(std::integral_constant<int, 3>());
  return f(std::integral_constant<int, 5>());
}

/// Calls f with the terms as a constant.
template <class F>
auto with_terms(int terms, F f) {
  if (terms == 1) return f(std::integral_constant<int, 1>());
  if (terms == 2) return f(std::integral_constant<int, 2>());
  return f(std::integral_constant<int, kMostTerms>());
}

/// Groups of pixels that a block reads: from a whole one on, to its last warp's last group.
template <int kChannels, int kTerms>
int pixel_chunks_of(int groups, int dx) {
  const int compiled = with_groups<kTerms>(groups, [](auto known) { return known(); });
  return kWarps * Tile<kChannels, 2>::kSide - 1 + compiled + ((dx & (kGroup - 1)) >= 4 ? 1 : 0);
}

/// Blocks for each that runs at a time. Each passes over the rows above its own once more; but
/// those at the picture's left and right take longer, and with one round all others wait for them:
/// 31 taps on 8192x8192 take 3.1 copies of the picture with 1, 2.9 with 3 (H200).
constexpr int kRounds = 3;

/// Blocks side by side, and the rows of one.
struct Blocks {
  int strips, rows;
};

/// at_once: how many run at a time.
template <int kChannels>
Blocks blocks_of(int out_width, int out_height, int at_once) {
  const int strips = ceil_div(out_width, Tile<kChannels, 2>::kPixels * kChannels);
  const int row_groups = ceil_div(out_height, kGroup);
  const std::int64_t blocks = std::int64_t(kRounds) * at_once;
  const int segments = int(std::clamp<std::int64_t>(blocks / strips, 1, row_groups));
  return {strips, ceil_div(row_groups, segments) * kGroup};
}

/// Of a block of so many rows for one channel.
template <int kGroups, int kTerms>
Geometry block_geometry(int pixel_chunks, int rows) {
  using T = Tile<1, kGroups>;
  Geometry g;
  g.block_columns = kLaneCount;
  g.block_rows = kWarps;
  g.computing_threads = kThreads;
  g.out_columns = T::kPixels;
  g.out_rows = rows;
  g.shared_bytes = sizeof(std::uint32_t) * ((T::kStages * T::kTurnRows + 1) * T::kInWords +
                                            2 * T::kTurnRows * T::kOutWords +
                                            T::kInChunks * kGroup + 2 * kTerms * kMostTaps);
  // The first groups give no outputs; a turn is loaded whole.
  const int steps = ceil_div(kGroups - 1 + rows / kGroup, T::kPerTurn) * T::kPerTurn;
  g.loads = double(pixel_chunks) * kGroup * steps * kGroup;
  g.loads_per_output = std::to_string(pixel_chunks * kGroup) + " * (rows + " +
                       std::to_string((kGroups - 1) * kGroup) + ") / (" +
                       std::to_string(g.out_columns) + " * rows)";
  g.note = "A block walks down its rows, " + std::to_string(T::kTurnRows) +
           " of the input at a time, and keeps what lies between the passes in registers: " +
           std::to_string(rows) + " rows here, on a GPU so many that there are " +
           std::to_string(kRounds) + " blocks for each that runs at a time. " + kPassesOnWarpgroups;
  return g;
}

}  // namespace convfilt::CONVFILT_BACKEND
