/// A strip of tensor_colour.cu.
#pragma once

#include <type_traits>

#include "colour_bands.hpp"
#include "colour_pieces.hpp"
#include "colour_rows.hpp"
#include "group_rows.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Calls f with 0, 1 and 2 as types.
template <class F>
CONVFILT_DEVICE inline void for_colours(F&& f) {
  f(std::integral_constant<int, 0>{});
  f(std::integral_constant<int, 1>{});
  f(std::integral_constant<int, 2>{});
}

/// Walks down the rows from..to of a strip.
template <int kDigits, int kAtOnce, class Shape, class End>
CONVFILT_DEVICE inline void walk_colours(const GroupPlace& place, const ColourBands<Shape>& bands,
                                         const End& end, const GroupGrid& grid, int dy, int strip,
                                         int from, int to) {
  constexpr int kRows = Shape::kRows;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, x = grid.strip_x(strip);
  const SharedWords planes = place.rows, stages = place.rows.from(Shape::kStages);
  const SharedWords stage = stages.from(warp * Shape::kStage);
  const int in_rows = ceil_div(to - from, kRows) * kRows + Shape::kInRows - kRows;
  write_sides(place, kColours * grid.left_of(x),
              kColours * grid.right_of(x, place.picture.width / kColours), from + dy, in_rows);
  ColourRows<Shape> rows(place, planes, place.rows.from(Shape::kLanding), x, from + dy, in_rows);
  CONVFILT_UNROLL(1)
  for (int ahead = 0; ahead < Shape::kAhead; ++ahead) rows.copy(place);
  CONVFILT_UNROLL(1)
  for (int row = 0; row < Shape::kInRows; row += 2) {
    rows.take_apart_two();
    rows.copy(place);
  }
  hand_over();
  __syncthreads();

  // Of two digits two warps share a row, half of whose segments each of them joins.
  const bool second = kDigits == 2 && warp % 2 == 1;
  const int out_row = kRows - 1 - warp * kRows / kColourWarps;
  ColourPieces<kDigits == 2 ? 3 : 6> pieces(
      place.out, from + out_row, kColours * (x + (second ? Shape::kHalf : 0)) + lane * kChunk,
      kColours * strip * kGroupColumns);
  int first = 0;  // row of the planes, in chunks
  CONVFILT_UNROLL(1)
  for (int y = from; y < to; y += kRows) {
    // Multiply; meanwhile, take the next rows apart.
    ColourSums sums[kColours];
    int32_t red[16];
    const auto begin = [&](auto colour) {
      begin_plane(bands, planes.from(colour * Shape::kPlane), first, sums[colour]);
    };
    for_colours([&](auto colour) {
      if constexpr (colour < kAtOnce) begin(colour);
    });
    CONVFILT_UNROLL(kRows / 2)
    for (int row = 0; row < kRows; row += 2) {
      rows.take_apart_two();
      if (kDigits == 1) rows.copy(place);
    }
    hand_over();

    // End each colour's sums.
    for_colours([&](auto colour) {
      constexpr int kBegun = colour + kAtOnce < kColours ? colour + kAtOnce : kColours;
      finish_products<kBegun - 1 - colour>(sums[colour]);
      if constexpr (kDigits == 2) {
        stage_two<colour>(end, sums[colour], red, stage, lane);
      } else {
        stage_one<colour>(end, sums[colour], stage, lane);
      }
      if constexpr (kBegun < kColours) begin(std::integral_constant<int, kBegun>{});
    });

    // Join them to pixels and write these.
    if constexpr (kDigits == 2) {
      __syncthreads();
      uint32_t words[12];
      join_two(stages.from(warp / 2 * 2 * Shape::kStage), second, lane, words);
      lay(rows.free_piece(), lane, words);
      __syncwarp();
      if (y + out_row < to) pieces.write(rows.free_piece(), lane);
      __syncwarp();
      rows.copy(place);
    } else {
      __syncwarp();
      uint32_t words[2][12];
      CONVFILT_UNROLL(2)
      for (int k = 0; k < 2; ++k) join_one(stage, 32 * k + lane, words[k]);
      __syncwarp();
      CONVFILT_UNROLL(2)
      for (int k = 0; k < 2; ++k) lay(stage, 32 * k + lane, words[k]);
      __syncwarp();
      if (y + out_row < to) pieces.write(stage, lane);
      __syncwarp();
    }
    pieces.go_down(kRows);
    first += kRows * Shape::kPitch / 4;
    if (first >= Shape::kPlane / 4) first -= Shape::kPlane / 4;
    // The planes are there, and what was staged may be written over.
    __syncthreads();
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
