/// A strip of tensor_colour.cu.
#pragma once

#include <type_traits>

#include "kernels/tensor/warpgroup/colour/bands.hpp"
#include "kernels/tensor/warpgroup/colour/pieces.hpp"
#include "kernels/tensor/warpgroup/colour/rows.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Calls f with 0, 1 and 2 as types.
template <class F>
CONVFILT_DEVICE inline void for_colours(F&& f) {
  f(std::integral_constant<int, 0>{});
  f(std::integral_constant<int, 1>{});
  f(std::integral_constant<int, 2>{});
}

/// Of a strip: its rows of outputs, and the rows of the picture that they need.
struct ColourStrip {
  int x, own_x, from, to, first_row, rows;
};

template <class Shape>
CONVFILT_DEVICE inline ColourStrip strip_of(const GroupGrid& grid, int block, int dy,
                                            int out_height) {
  const int strip = block % grid.across, from = block / grid.across * grid.rows;
  const int to = min(from + grid.rows, out_height);
  return {grid.strip_x(strip),
          strip * kGroupColumns,
          from,
          to,
          from + dy,
          ceil_div(to - from, Shape::kRows) * Shape::kRows + Shape::kInRows - Shape::kRows};
}

/// Finds the rows that the strip needs: some of them lie above or below the picture.
template <class Shape>
CONVFILT_DEVICE inline void find_sources(const GroupPlace& place, const ColourStrip& strip) {
  CONVFILT_UNROLL(1)
  for (int row = threadIdx.x; row < strip.rows; row += kGroupThreads) {
    place.rows.set(Shape::kSources + row,
                   border_index(place.border, strip.first_row + row, place.samples.height));
  }
  __syncthreads();
}

/// Walks down a strip.
template <int kDigits, int kAtOnce, class Shape, class End>
CONVFILT_DEVICE inline void walk_colours(const GroupPlace& place, const ColourBands<Shape>& bands,
                                         const End& end, const ColourStrip& strip) {
  constexpr int kRows = Shape::kRows;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const SharedWords planes = place.rows, stages = place.rows.from(Shape::kStages);
  const SharedWords stage = stages.from(warp * Shape::kStage);
  ColourRows<Shape> rows(place, planes, place.rows.from(Shape::kLanding),
                         place.rows.from(Shape::kSources), strip.x, strip.rows);
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
      place.out, strip.from + out_row,
      kColours * (strip.x + (second ? Shape::kHalf : 0)) + lane * kChunk, kColours * strip.own_x);
  int first = 0;  // row of the planes, in chunks
  CONVFILT_UNROLL(1)
  for (int y = strip.from; y < strip.to; y += kRows) {
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
      finish_products_but<kBegun - 1 - colour>(sums[colour]);
      if constexpr (kDigits == 2) {
        stage_two<colour>(end, sums[colour], red, stage);
      } else {
        stage_one<colour>(end, sums[colour], stage);
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
      if (y + out_row < strip.to) pieces.write(rows.free_piece(), lane);
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
      if (y + out_row < strip.to) pieces.write(stage, lane);
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
