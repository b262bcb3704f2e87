/// The products of a strip's rows with a mask's bands, as tensor_groups.cu begins them.
#pragma once

#include "kernels/tensor/warpgroup/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Row after row, each times the bands of all outputs together that it counts for. kHalf: half of
/// the last step counts; that of two rows is one product.
template <int kDigits, int kSteps, bool kHalf>
class RowProducts {
 public:
  /// `first`: where the first row lies, in bytes; `end`: where the rows do, which go round.
  CONVFILT_DEVICE RowProducts(const GroupPlace& place, int bands, int first, int end)
      : step_(bands * kBand),
        first_(first),
        end_(end),
        rows_(operand(place.rows, kChunk, 8 * kChunk)),
        bands_(operand(place.bands, 8 * kChunk, 2 * 8 * kChunk)),
        half_rows_(operand(place.rows.from(kWhole * kGroupStep / 4), kPitch, 8 * kChunk)),
        half_bands_(operand(place.bands.from(kWhole * step_ / 4), kBand / 2, 8 * kChunk)) {}

  CONVFILT_DEVICE void add(GroupSums<kDigits>& sums, bool keep) {
    CONVFILT_UNROLL(kWhole)
    for (int step = 0; step < kWhole; ++step) {
      multiply(sums, rows_.from(first_ + step * kGroupStep), bands_.from(band_ + step * step_),
               keep || step > 0);
    }
    band_ += kBand;
    first_ += kPitch;
    if (first_ == end_) first_ = 0;
  }
  /// Two that lie one behind the other.
  CONVFILT_DEVICE void add_two(GroupSums<kDigits>& sums, bool keep) {
    const int row = first_, band = band_;
    add(sums, keep);
    add(sums, true);
    if (kHalf) multiply(sums, half_rows_.from(row), half_bands_.from(band / 2), true);
  }

 private:
  static constexpr int kBand = group_band_bytes(kDigits), kWhole = kSteps - kHalf;
  static constexpr int kPitch = pitch_words(kSteps) * 4;

  int step_, first_, end_, band_ = 0;
  Operand rows_, bands_, half_rows_, half_bands_;
};

/// All rows that outputs together need, of a mask of `height` rows; kHeight: that, or 0 for any.
template <int kHeight, int kDigits, class Products>
CONVFILT_DEVICE inline void add_rows(Products products, int height, GroupSums<kDigits>& sums,
                                     bool keep) {
  constexpr int kMore = group_rows(kDigits) - 1, kTwos = 2;
  if constexpr (kHeight > 0) {
    CONVFILT_UNROLL(kHeight + kMore)
    for (int row = 0; row < kHeight + kMore; ++row) products.add(sums, keep || row > 0);
  } else {
    products.add_two(sums, keep);
    int left = height + kMore - 2;
    CONVFILT_UNROLL(1)
    for (; left >= 2 * kTwos; left -= 2 * kTwos) {
      CONVFILT_UNROLL(kTwos)
      for (int two = 0; two < kTwos; ++two) products.add_two(sums, true);
    }
    CONVFILT_UNROLL(1)
    for (; left >= 2; left -= 2) products.add_two(sums, true);
    if (left > 0) products.add(sums, true);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
