/// What a warp of tensor.cu computes: a few rows of sums, and their ends.
#pragma once

#include "kernels/contract/bytes.hpp"
#include "kernels/contract/half_to_even.hpp"
#include "kernels/tensor/tile.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Rows of outputs that a warp computes together: so many that their sums fit into registers.
constexpr int rows_together(int digits) {
  return digits < 3 ? 4 : 2;
}

/// So many blocks shall fit an SM's registers: one's loads hide behind others' products.
constexpr int blocks_an_sm(int digits) {
  return digits == 2 ? 4 : 6;
}

/// Sums of a lane, by digit, row, product, and place in its fragment.
template <int kDigits>
using Sums = std::int32_t[kDigits][rows_together(kDigits)][kProducts][4];

/// The lowest digit's sums begin at what the end wants, so that it costs no addition there.
template <int kDigits>
CONVFILT_DEVICE inline void start(Sums<kDigits>& sums, std::int32_t begin) {
  constexpr int kRows = rows_together(kDigits);
  CONVFILT_UNROLL(kDigits)
  for (int digit = 0; digit < kDigits; ++digit) {
    CONVFILT_UNROLL(kRows * kProducts * 4)
    for (int k = 0; k < kRows * kProducts * 4; ++k) {
      sums[digit][k / (kProducts * 4)][k / 4 % kProducts][k % 4] = digit == 0 ? begin : 0;
    }
  }
}

/// All digits of one sum.
template <int kDigits>
CONVFILT_DEVICE inline std::int32_t total(const Sums<kDigits>& sums, int rho, int product, int k) {
  std::int32_t sum = sums[kDigits - 1][rho][product][k];
  for (int digit = kDigits - 2; digit >= 0; --digit) {
    sum = sum * 256 + sums[digit][rho][product][k];
  }
  return sum;
}

/// The words of one digit's band for a lane, of one step or two.
template <int kWide, int kStep, class Bands>
CONVFILT_DEVICE inline void band_words(Bands& bands, int band, int at, std::uint32_t (&b)[kWide]) {
  for (int k = 0; k < kWide; ++k) b[k] = bands[band][at + (kStep + k) * kStepBytes];
}

/// Adds all rows of the mask, kWide steps of 16 samples from kStep on.
template <int kDigits, int kStep, int kWide, class Tile, class Bands>
CONVFILT_DEVICE inline void add_rows(Tile& in_tile, Bands& bands, int row, int word, int band_at,
                                     int height, Sums<kDigits>& sums) {
  constexpr int kRows = rows_together(kDigits);
  std::uint32_t a[kRows][kProducts][2 * kWide];  // rows of segments, taken round
  const auto load_row = [&](int r, std::uint32_t(&to)[kProducts][2 * kWide]) {
    for (int product = 0; product < kProducts; ++product) {
      for (int k = 0; k < 2 * kWide; ++k) {
        to[product][k] = in_tile[r][word + product * 32 + k % 2 * 16 + (kStep + k / 2) * 4];
      }
    }
  };
  for (int k = 0; k < kRows - 1; ++k) load_row(row + k, a[k]);
  CONVFILT_UNROLL(1)
  for (int j0 = 0; j0 < height; j0 += kRows) {
    CONVFILT_UNROLL(kRows)
    for (int k = 0; k < kRows; ++k) {
      const int j = j0 + k;
      if (j >= height) break;
      load_row(row + j + kRows - 1, a[(k + kRows - 1) % kRows]);
      for (int digit = 0; digit < kDigits; ++digit) {
        std::uint32_t b[kWide];
        band_words<kWide, kStep>(bands, j * kDigits + digit, band_at, b);
        for (int rho = 0; rho < kRows; ++rho) {
          for (int product = 0; product < kProducts; ++product) {
            auto& c = sums[digit][rho][product];
            const auto& segments = a[(k + rho) % kRows][product];
            if (digit == kDigits - 1) {
              mma<std::int8_t>(c, segments, b);
            } else {
              mma<std::uint8_t>(c, segments, b);
            }
          }
        }
      }
    }
  }
}

/// Where two neighbouring samples of a lane go.
struct Pair {
  int x, y;
  int rho, product, half;  ///< which sums they are
};

/// Calls f(Pair) for all of a lane's outputs, whose first is (x, y).
template <int kRows, class F>
CONVFILT_DEVICE inline void for_each_pair(int x, int y, F f) {
  CONVFILT_UNROLL(kRows)
  for (int rho = 0; rho < kRows; ++rho) {
    CONVFILT_UNROLL(kProducts)
    for (int product = 0; product < kProducts; ++product) {
      CONVFILT_UNROLL(2)
      for (int half = 0; half < 2; ++half) {
        f(Pair{x + (16 * product + 8 * half) * kSegment, y + rho, rho, product, half});
      }
    }
  }
}

/// Ends a lane's sums, whose first output is (x, y). `whole`: whether all of the warp's outputs
/// exist, and pairs of them may be stored at once.
template <int kDigits>
CONVFILT_DEVICE inline void end_sums(const MaskPart<std::uint8_t>& mask, const HalfToEven& end,
                                     const PlaneView<std::int32_t>& partial,
                                     const PlaneView<std::uint8_t>& out, int x, int y, bool whole,
                                     const Sums<kDigits>& sums) {
  constexpr int kRows = rows_together(kDigits);
  const auto sum_of = [&](const Pair& p, int k) {
    return total<kDigits>(sums, p.rho, p.product, 2 * p.half + k);
  };
  const auto store = [&](const Pair& p, std::uint16_t pair) {
    *reinterpret_cast<std::uint16_t*>(out.row(p.y) + p.x) = pair;
  };
  if (whole && end.usable) {
    for_each_pair<kRows>(x, y, [&](const Pair& p) {
      store(p, saturated_pair(end(sum_of(p, 0)), end(sum_of(p, 1))));
    });
  } else if (whole && mask.first && mask.last) {
    for_each_pair<kRows>(x, y, [&](const Pair& p) {
      store(p, std::uint16_t(mask.finish(sum_of(p, 0)) | mask.finish(sum_of(p, 1)) << 8));
    });
  } else {
    for_each_pair<kRows>(x, y, [&](const Pair& p) {
      if (p.y >= out.height) return;
      for (int k = 0; k < 2; ++k) {
        const int at = p.x + k;
        const std::int32_t sum = sum_of(p, k) - end.start;
        if (at >= out.width) continue;
        end_sum(mask, partial, out, at, p.y, sum + begin_sum(mask, partial, at, p.y));
      }
    });
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
