/// A mask's bands as tensor_colour.cu multiplies planes with them.
#pragma once

#include <bit>

#include "kernels/tensor/warpgroup/colour/ends.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The mask's bands as products take them, one for each row that outputs together need.
template <class Shape, bool kInRegisters = Shape::kInRegisters>
class ColourBands;

template <class Shape>
class ColourBands<Shape, true> {
 public:
  CONVFILT_DEVICE ColourBands(const GroupPlace&, const PlaneView<const uint8_t>& bytes) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    CONVFILT_UNROLL(Shape::kInRows)
    for (int row = 0; row < Shape::kInRows; ++row) {
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        // Of 8 rows and one chunk; two of the rows are a thread's, four lanes have a row's bytes.
        const int core = (2 * warp + k % 2) * 2 + k / 2;
        words_[row][k] = std::bit_cast<uint32_t>(
            load4(bytes, row * Shape::kBandBytes + core * 8 * kChunk + 4 * lane, 0));
      }
    }
  }
  CONVFILT_DEVICE void add(ColourSums& sums, int row, const Operand& samples, bool keep) const {
    multiply<std::int8_t, uint8_t>(sums, words_[row], samples, keep);
  }

 private:
  uint32_t words_[Shape::kInRows][4];
};

template <class Shape>
class ColourBands<Shape, false> {
 public:
  /// They are there with the first rows.
  CONVFILT_DEVICE ColourBands(const GroupPlace& place, const PlaneView<const uint8_t>& bytes)
      : bands_(operand(place.bands, 8 * kChunk, 2 * 8 * kChunk)),
        thirds_(operand(place.bands.from(Shape::kBands * Shape::kBandBytes / 4),
                        Shape::kBandBytes / 2, 8 * kChunk)) {
    for (int at = 16 * threadIdx.x; at < Shape::kAllBandBytes; at += 16 * kGroupThreads) {
      copy16(bytes, at, 0, place.bands, at / 4);
    }
  }
  CONVFILT_DEVICE void add(ColourSums& sums, int row, const Operand& samples, bool keep) const {
    multiply<std::int8_t, uint8_t>(sums, bands_.from(row * Shape::kBandBytes), samples, keep);
  }
  /// The third chunks of two rows, in one product.
  CONVFILT_DEVICE void add_thirds(ColourSums& sums, int row, const Operand& samples) const {
    multiply<std::int8_t, uint8_t>(sums, thirds_.from(row * Shape::kBandBytes / 2), samples, true);
  }

 private:
  Operand bands_, thirds_;
};

/// Begins the products of a plane's rows, from `first` on, in chunks.
template <class Shape>
CONVFILT_DEVICE inline void begin_plane(const ColourBands<Shape>& bands, SharedWords plane,
                                        int first, ColourSums& sums) {
  const Operand rows = operand(plane, kChunk, 8 * kChunk);
  const Operand thirds = operand(plane.from(2 * kChunk / 4), Shape::kPitch * 4, 8 * kChunk);
  begin_products();
  int at = first;
  CONVFILT_UNROLL(Shape::kInRows)
  for (int row = 0; row < Shape::kInRows; row += 2) {
    bands.add(sums, row, rows.chunks_on(at), row > 0);
    bands.add(sums, row + 1, rows.chunks_on(at + Shape::kPitch / 4), true);
    if constexpr (Shape::kThirds) bands.add_thirds(sums, row, thirds.chunks_on(at));
    at += 2 * Shape::kPitch / 4;
    if (at == Shape::kPlane / 4) at = 0;
  }
  commit_products();
}

}  // namespace convfilt::CONVFILT_BACKEND
