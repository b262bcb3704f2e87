/// What a warp of tensor_strips.cu computes of a row: its sums, and their ends.
#pragma once

#include <type_traits>

#include "kernels/contract/bytes.hpp"
#include "kernels/contract/digit_sums.hpp"
#include "kernels/tensor/strips/mask.hpp"
#include "kernels/tensor/strips/words.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Sums of a lane, by digit, product, and place in its fragment.
template <int kDigits>
using StripSums = std::int32_t[kDigits][kProducts][4];

/// sums[kDigit] = rows of segments times that digit's bands, and its `start`.
template <int kDigit, int kDigits, int kSteps, int kHeight, int kPairs>
CONVFILT_DEVICE inline void multiply_rows(const Words<kSteps> (&ring)[kPairs][2], int first,
                                          const std::uint32_t (&bands)[kHeight][kDigits][kSteps],
                                          const std::int32_t (&start)[kDigits][4],
                                          StripSums<kDigits>& sums) {
  using Digit =
      std::conditional_t<kDigit == kDigits - 1, std::int8_t, std::uint8_t>;  // the top's sign
  CONVFILT_UNROLL(kProducts)
  for (int product = 0; product < kProducts; ++product) {
    mma<Digit>(sums[kDigit][product], ring[first / 2 % kPairs][first % 2][product],
               bands[0][kDigit], start[kDigit]);
  }
  CONVFILT_UNROLL(kHeight)
  for (int j = 1; j < kHeight; ++j) {
    CONVFILT_UNROLL(kProducts)
    for (int product = 0; product < kProducts; ++product) {
      mma<Digit>(sums[kDigit][product], ring[(first + j) / 2 % kPairs][(first + j) % 2][product],
                 bands[j][kDigit]);
    }
  }
}

/// A lane's sums number k.
template <int kDigits>
CONVFILT_DEVICE inline DigitSums<kDigits> digit_sums(const StripSums<kDigits>& sums, int k) {
  return {sums[kDigits - 1][k / 4][k % 4], sums[kDigits / 2][k / 4][k % 4], sums[0][k / 4][k % 4]};
}

/// The columns of a row that a warp writes.
struct Columns {
  int from, to;
  bool all;  ///< of its 256, and pairs of them may be stored at once
};

/// Ends a lane's sums of a row, whose first output is x.
template <bool kPlain, int kDigits>
CONVFILT_DEVICE inline void end_row(std::uint8_t* row, const StripMask& mask, int x,
                                    const Columns& columns, const StripSums<kDigits>& sums) {
  std::uint16_t pairs[kProducts * 2];
  const auto end_with = [&](const auto& end) {
    for (int k = 0; k < kProducts * 2; ++k) {
      pairs[k] = saturated_pair(digit_sums<kDigits>(sums, 2 * k).ended(end),
                                digit_sums<kDigits>(sums, 2 * k + 1).ended(end));
    }
  };
  if constexpr (kDigits < 3) {
    end_with(mask.float_end);
  } else if (mask.shift_end.usable) {
    end_with(mask.shift_end);
  } else {
    end_with(mask.end);
  }
  CONVFILT_UNROLL(kProducts * 2)
  for (int k = 0; k < kProducts * 2; ++k) {
    const int at = x + k * 8 * kSegment;
    if (kPlain || columns.all) {
      *reinterpret_cast<std::uint16_t*>(row + at) = pairs[k];
    } else {
      if (at >= columns.from && at < columns.to) row[at] = std::uint8_t(pairs[k]);
      if (at >= columns.from && at + 1 < columns.to) row[at + 1] = std::uint8_t(pairs[k] >> 8);
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
