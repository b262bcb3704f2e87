/// The two passes of a warp of separable_tensor.cu. It takes 16 rows of its slices of 16 columns at
/// a time, first along the rows. Then it takes them along the columns, together with the slices of
/// rows above, whose row sums it keeps.
///
/// Both passes multiply by a banded matrix, whose row i stands for output i of 16 neighbours. It
/// holds the weights of the mask's row or column, with tap 0 at place lag(i). Places follow each
/// other in slices of 16. A lane's word of the other factor holds four places.
///
///     places   0 ........ 15  16 ....... 31  32 ....... 47      31 taps, 3 slices
///     output 0   wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww . . . . . .
///     output 5   . . . wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww . . .
#pragma once

#include "kernels/backend/tensor_core.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/separable_tensor/mask.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor {

using namespace convfilt::separable_tensor;

/// Which four places of a slice a lane's word holds. Along a row they are neighbours. Along a
/// column they are two of the upper eight and two of the lower eight, as the row pass leaves them.
enum class WordOrder { neighbours, two_and_two };

template <WordOrder order>
CONVFILT_DEVICE inline int place_of(int t, int byte) {
  if constexpr (order == WordOrder::neighbours) return 4 * t + byte;
  return 2 * t + byte % 2 + byte / 2 * 8;
}

/// A lane's part of a banded matrix: its words of rows g and g + 8 in each slice, for each digit of
/// base 256. The lowest digit comes first, and the top digit is signed.
template <int kDigits, int kSlices>
struct BandedMatrix {
  std::uint32_t words[kDigits][2 * kSlices];
};

/// Splits four weights into a word for each digit.
template <int kDigits>
CONVFILT_DEVICE inline void split_digits(const std::uint32_t (&weights)[4],
                                         std::uint32_t (&words)[kDigits]) {
  const std::uint32_t first = pick_bytes(weights[0], weights[1], 0x5140);
  const std::uint32_t second = pick_bytes(weights[2], weights[3], 0x5140);
  words[0] = pick_bytes(first, second, 0x5410);
  if constexpr (kDigits == 2) words[1] = pick_bytes(first, second, 0x7632);
}

/// Makes a lane's part from row `line` of the weights in shared memory. `lags` are the numbers of
/// places before tap 0 in rows g and g + 8.
template <WordOrder order, int kDigits, int kSlices, class Weights>
CONVFILT_DEVICE inline BandedMatrix<kDigits, kSlices> banded_matrix(Weights& weights, int line,
                                                                    int taps,
                                                                    const int (&lags)[2]) {
  const int t = threadIdx.x % 4;
  const auto weight = [&](int tap) {
    return tap >= 0 && tap < taps ? std::uint32_t(std::int32_t(weights[line][tap])) : 0u;
  };
  BandedMatrix<kDigits, kSlices> matrix;
  CONVFILT_UNROLL(2 * kSlices)
  for (int n = 0; n < 2 * kSlices; ++n) {
    std::uint32_t four[4], words[kDigits];
    CONVFILT_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte) {
      four[byte] = weight(kSlice * (n / 2) + place_of<order>(t, byte) - lags[n % 2]);
    }
    split_digits<kDigits>(four, words);
    for (int digit = 0; digit < kDigits; ++digit) matrix.words[digit][n] = words[digit];
  }
  return matrix;
}

/// Adds the products of one digit of the matrix and the words of all slices to the sums.
template <class A, class B, int kDigits, int kSlices>
CONVFILT_DEVICE inline void add_slices(std::int32_t (&sums)[4],
                                       const BandedMatrix<kDigits, kSlices>& matrix, int digit,
                                       const std::uint32_t (&words)[kSlices]) {
  const auto& weights = matrix.words[digit];
  CONVFILT_UNROLL(kSlices)
  for (int slice = 0; slice + 1 < kSlices; slice += 2) {
    const int at = 2 * slice;
    const std::uint32_t a[4] = {weights[at], weights[at + 1], weights[at + 2], weights[at + 3]};
    const std::uint32_t b[2] = {words[slice], words[slice + 1]};
    mma<B, A>(sums, a, b);
  }
  if constexpr (kSlices % 2 == 1) {
    const std::uint32_t a[2] = {weights[2 * kSlices - 2], weights[2 * kSlices - 1]};
    const std::uint32_t b[1] = {words[kSlices - 1]};
    mma<B, A>(sums, a, b);
  }
}

constexpr int kHalves = 2;  ///< halves of a slice; 8 rows or columns are a product's narrow side

/// The column that row g of a half of a row pass's matrix stands for. The order gives a lane four
/// neighbouring outputs after the column pass: columns 2t and 2t + 1 of the first half are 4t and
/// 4t + 1, and those of the second half are 4t + 2 and 4t + 3.
CONVFILT_DEVICE inline int column_of(int g, int half) {
  return g / 2 * 4 + g % 2 + 2 * half;
}

/// Makes room for the row sums of the next slice of rows, which take the last place.
template <int kColumnSlices, int kTerms, int kSlices>
CONVFILT_DEVICE inline void move_down(
    FourRowSums (&row_sums)[kColumnSlices][kHalves][kTerms][kSlices]) {
  CONVFILT_UNROLL(kColumnSlices * kHalves * kTerms * (kSlices - 1))
  for (int k = 0; k < kColumnSlices * kHalves * kTerms * (kSlices - 1); ++k) {
    const int at = k / (kSlices - 1), slice = k % (kSlices - 1);
    auto& column = row_sums[at / kTerms / kHalves][at / kTerms % kHalves][at % kTerms];
    column[slice] = column[slice + 1];
  }
}

/// Computes one term's row sums of a slice of rows from the words of slice `side` of columns and
/// those behind it. They go to slice `slot` in both halves of the columns.
template <int kDigits, int kSlices, int kTerms, int kColumns>
CONVFILT_DEVICE inline void row_pass(const BandedMatrix<kDigits, kSlices>& matrix, const Ends& ends,
                                     const std::uint32_t (&words)[kHalves][kColumns], int side,
                                     int slot, FourRowSums (&row_sums)[kHalves][kTerms][kSlices],
                                     int term) {
  using Signed = std::int8_t;
  using Byte = std::uint8_t;
  const RowEnd& end = ends.rows[term];
  std::uint32_t pairs[kHalves][kHalves];  // [columns][rows]
  CONVFILT_UNROLL(kHalves)
  for (int half = 0; half < kHalves; ++half) {
    std::uint32_t own[kSlices];
    CONVFILT_UNROLL(kSlices)
    for (int slice = 0; slice < kSlices; ++slice) own[slice] = words[half][slice + side];
    std::int32_t sums[4] = {};
    add_slices<Signed, Byte>(sums, matrix, kDigits - 1, own);
    if constexpr (kDigits == 2) {
      next_digit(sums);
      add_slices<Byte, Byte>(sums, matrix, 0, own);
    }
    std::uint32_t ended[4];
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) ended[k] = end(sums[k]);
    pairs[0][half] = pair_of(ended[0], ended[1]);
    pairs[1][half] = pair_of(ended[2], ended[3]);
  }
  CONVFILT_UNROLL(kHalves)
  for (int half = 0; half < kHalves; ++half) {
    row_sums[half][term][slot] = four_row_sums(pairs[half][0], pairs[half][1]);
  }
}

/// Computes the sums of columns 2t and 2t + 1 in rows g and g + 8, for one half of a slice of
/// columns. The sums begin at the end's `start`. They are products of the row sums of all terms and
/// slices of rows, of which the lowest slice is in `slot`.
template <int kDigits, int kSlices, int kTerms>
CONVFILT_DEVICE inline void column_pass(const BandedMatrix<kDigits, kSlices> (&matrices)[kTerms],
                                        std::uint32_t start,
                                        const FourRowSums (&row_sums)[kTerms][kSlices], int slot,
                                        std::int32_t (&sums)[4]) {
  using Signed = std::int8_t;
  using Byte = std::uint8_t;
  std::uint32_t low[kTerms][kSlices], high[kTerms][kSlices];
  CONVFILT_UNROLL(kTerms * kSlices)
  for (int k = 0; k < kTerms * kSlices; ++k) {
    const int term = k / kSlices, slice = k % kSlices;
    low[term][slice] = row_sums[term][(slot + 1 + slice) % kSlices].low;
    high[term][slice] = row_sums[term][(slot + 1 + slice) % kSlices].high;
  }
  for (std::int32_t& sum : sums) sum = 0;
  CONVFILT_UNROLL(kTerms)
  for (int t = 0; t < kTerms; ++t) {
    add_slices<Signed, Signed>(sums, matrices[t], kDigits - 1, high[t]);
  }
  if constexpr (kDigits == 1) {
    next_digit(sums, start);
    CONVFILT_UNROLL(kTerms)
    for (int t = 0; t < kTerms; ++t) add_slices<Signed, Byte>(sums, matrices[t], 0, low[t]);
  } else {
    next_digit(sums);
    CONVFILT_UNROLL(kTerms)
    for (int t = 0; t < kTerms; ++t) {
      add_slices<Byte, Signed>(sums, matrices[t], 0, high[t]);
      add_slices<Signed, Byte>(sums, matrices[t], 1, low[t]);
    }
    next_digit(sums, start);
    CONVFILT_UNROLL(kTerms)
    for (int t = 0; t < kTerms; ++t) add_slices<Byte, Byte>(sums, matrices[t], 0, low[t]);
  }
}

/// A lane's sums by slice of columns and by half of the slice.
template <int kColumnSlices>
using ColumnSums = std::int32_t[kColumnSlices][kHalves][4];

/// Ends the sums one by one. For each slice of columns it makes a word of four neighbouring outputs
/// in row g, and one in row g + 8.
template <int kColumnSlices, class End>
CONVFILT_DEVICE inline void end_by(const ColumnSums<kColumnSlices>& sums,
                                   std::uint32_t (&words)[2][kColumnSlices], End end) {
  CONVFILT_UNROLL(2 * kColumnSlices)
  for (int k = 0; k < 2 * kColumnSlices; ++k) {
    const auto& [first, second] = sums[k / 2];
    const int at = k % 2 * 2;
    words[k % 2][k / 2] =
        saturated_four(end(first[at]), end(first[at + 1]), end(second[at]), end(second[at + 1]));
  }
}

template <int kColumnSlices>
CONVFILT_DEVICE inline void end_columns(const Ends& ends, const ColumnSums<kColumnSlices>& sums,
                                        std::uint32_t (&words)[2][kColumnSlices]) {
  with_column_end(ends, [&](const auto& end) { end_by<kColumnSlices>(sums, words, end); });
}

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor
