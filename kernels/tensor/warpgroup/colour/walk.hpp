/// How a block walks down a strip of three colours, multiplying planes with the mask's banded
/// matrices.
#pragma once

#include <bit>
#include <type_traits>

#include "kernels/tensor/warpgroup/colour/pixels.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour {

/// The mask's banded matrices as products take them, in registers or in shared memory. There is one
/// for each row that a product's outputs need.
template <class Shape, bool kInRegisters = Shape::kInRegisters>
class BandedMatrices;

template <class Shape>
class BandedMatrices<Shape, true> {
 public:
  CONVFILT_DEVICE BandedMatrices(const BlockData&, const PlaneView<const uint8_t>& bytes) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    CONVFILT_UNROLL(Shape::kInRows)
    for (int row = 0; row < Shape::kInRows; ++row) {
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        // A core matrix has 8 rows of a chunk. Four lanes share a row, and a thread reads two rows.
        const int core = (2 * warp + k % 2) * 2 + k / 2;
        words_[row][k] = std::bit_cast<uint32_t>(
            load4(bytes, row * Shape::kMatrixBytes + core * 8 * kChunk + 4 * lane, 0));
      }
    }
  }
  CONVFILT_DEVICE void add(Sums& sums, int row, const Operand& samples, bool keep) const {
    multiply<std::int8_t, uint8_t>(sums, words_[row], samples, keep);
  }

 private:
  uint32_t words_[Shape::kInRows][4];
};

template <class Shape>
class BandedMatrices<Shape, false> {
 public:
  /// Begins to copy the matrices; they arrive before the first rows.
  CONVFILT_DEVICE BandedMatrices(const BlockData& place, const PlaneView<const uint8_t>& bytes)
      : matrices_(operand(place.matrices, 8 * kChunk, 2 * 8 * kChunk)),
        thirds_(operand(place.matrices.from(Shape::kMatrices * Shape::kMatrixBytes / 4),
                        Shape::kMatrixBytes / 2, 8 * kChunk)) {
    for (int at = 16 * threadIdx.x; at < Shape::kAllMatrixBytes; at += 16 * kThreads) {
      copy16(bytes, at, 0, place.matrices, at / 4);
    }
  }
  CONVFILT_DEVICE void add(Sums& sums, int row, const Operand& samples, bool keep) const {
    multiply<std::int8_t, uint8_t>(sums, matrices_.from(row * Shape::kMatrixBytes), samples, keep);
  }
  /// Adds the third chunks of two rows in one product.
  CONVFILT_DEVICE void add_thirds(Sums& sums, int row, const Operand& samples) const {
    multiply<std::int8_t, uint8_t>(sums, thirds_.from(row * Shape::kMatrixBytes / 2), samples,
                                   true);
  }

 private:
  Operand matrices_, thirds_;
};

/// Begins the products of a plane's rows. The first row lies `first` chunks behind the beginning of
/// the plane.
template <class Shape>
CONVFILT_DEVICE inline void begin_plane(const BandedMatrices<Shape>& matrices, SharedWords plane,
                                        int first, Sums& sums) {
  const Operand rows = operand(plane, kChunk, 8 * kChunk);
  const Operand thirds = operand(plane.from(2 * kChunk / 4), Shape::kPitch * 4, 8 * kChunk);
  begin_products();
  int at = first;
  CONVFILT_UNROLL(Shape::kInRows)
  for (int row = 0; row < Shape::kInRows; row += 2) {
    matrices.add(sums, row, rows.chunks_on(at), row > 0);
    matrices.add(sums, row + 1, rows.chunks_on(at + Shape::kPitch / 4), true);
    if constexpr (Shape::kThirds) matrices.add_thirds(sums, row, thirds.chunks_on(at));
    at += 2 * Shape::kPitch / 4;
    if (at == Shape::kPlane / 4) at = 0;
  }
  commit_products();
}

/// Calls f with 0, 1 and 2 as types.
template <class F>
CONVFILT_DEVICE inline void for_colours(F&& f) {
  f(std::integral_constant<int, 0>{});
  f(std::integral_constant<int, 1>{});
  f(std::integral_constant<int, 2>{});
}

/// A strip's rows of outputs, and the rows of the picture that they need.
struct Strip {
  int x, own_x, from, to, first_row, rows;
};

template <class Shape>
CONVFILT_DEVICE inline Strip strip_of(const Grid& grid, int block, int dy, int out_height) {
  const int strip = block % grid.across, from = block / grid.across * grid.rows;
  const int to = min(from + grid.rows, out_height);
  return {grid.strip_x(strip),
          strip * kColumns,
          from,
          to,
          from + dy,
          ceil_div(to - from, Shape::kRows) * Shape::kRows + Shape::kInRows - Shape::kRows};
}

/// Finds the picture's row for each row that the strip needs, also above and below the picture.
template <class Shape>
CONVFILT_DEVICE inline void find_sources(const BlockData& place, const Strip& strip) {
  CONVFILT_UNROLL(1)
  for (int row = threadIdx.x; row < strip.rows; row += kThreads) {
    place.rows.set(Shape::kSources + row,
                   border_index(place.border, strip.first_row + row, place.samples.height));
  }
  __syncthreads();
}

/// Walks down a strip.
template <int kDigits, int kAtOnce, class Shape, class End>
CONVFILT_DEVICE inline void walk_down(const BlockData& place, const BandedMatrices<Shape>& matrices,
                                      const End& end, const Strip& strip) {
  constexpr int kRows = Shape::kRows;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const SharedWords planes = place.rows, stages = place.rows.from(Shape::kStages);
  const SharedWords stage = stages.from(warp * Shape::kStage);
  PixelRows<Shape> rows(place, planes, place.rows.from(Shape::kLanding),
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

  // With two digits, two warps share a row, and each joins half of its segments.
  const bool second = kDigits == 2 && warp % 2 == 1;
  const int out_row = kRows - 1 - warp * kRows / kWarps;
  Pieces<kDigits == 2 ? 3 : 6> pieces(
      place.out, strip.from + out_row,
      kColours * (strip.x + (second ? Shape::kHalf : 0)) + lane * kChunk, kColours * strip.own_x);
  int first = 0;  // where the first row lies in a plane, in chunks
  CONVFILT_UNROLL(1)
  for (int y = strip.from; y < strip.to; y += kRows) {
    // Multiply; meanwhile, take the next rows apart.
    Sums sums[kColours];
    int32_t red[16];
    const auto begin = [&](auto colour) {
      begin_plane(matrices, planes.from(colour * Shape::kPlane), first, sums[colour]);
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

    // Join the colours to pixels and write these.
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
    // Behind this barrier all warps have written the planes' rows and read what was staged.
    __syncthreads();
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour
