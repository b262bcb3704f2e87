/// What a warp of separable_tensor.cu computes: 16 rows of one block of 16 columns after the other,
/// first along the rows, then, with the groups of 16 rows above that it keeps, along the columns.
#pragma once

#include "kernels/separable_tensor/bands.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kHalves = 2;  // of a group, 8 rows or columns each: a product's narrow side

/// What the row pass leaves of one group of rows and 8 columns, a lane's four places of one column:
/// the lower bytes, and the upper ones, which have the sign.
struct Mids {
  std::uint32_t low, high;
};

/// Rows 4t.. of a block's band of a row pass stand for such columns that after the column pass a
/// lane has four neighbouring outputs: columns 2t and 2t + 1 of the first half are 4t and 4t + 1,
/// those of the second half 4t + 2 and 4t + 3.
CONVFILT_DEVICE inline int column_of(int g, int half) {
  return g / 2 * 4 + g % 2 + 2 * half;
}

/// Every sum times 256, and start.
CONVFILT_DEVICE inline void next_digit(std::int32_t (&sums)[4], std::uint32_t start) {
  for (std::int32_t& sum : sums) sum = std::int32_t(std::uint32_t(sum) * 256u + start);
}

/// Makes room for the uppermost groups of rows.
template <int kBlocks, int kTerms, int kGroups>
CONVFILT_DEVICE inline void move_down(Mids (&mids)[kBlocks][kHalves][kTerms][kGroups]) {
  CONVFILT_UNROLL(kBlocks * kHalves * kTerms * (kGroups - 1))
  for (int k = 0; k < kBlocks * kHalves * kTerms * (kGroups - 1); ++k) {
    const int at = k / (kGroups - 1), group = k % (kGroups - 1);
    auto& column = mids[at / kTerms / kHalves][at / kTerms % kHalves][at % kTerms];
    column[group] = column[group + 1];
  }
}

/// From the words of group `side` of columns on. What comes of them goes to group `slot` of the
/// term's columns' halves.
template <int kDigits, int kGroups, int kTerms, int kColumns>
CONVFILT_DEVICE inline void row_pass(const Band<kDigits, kGroups>& band, const LineEnds& ends,
                                     const std::uint32_t (&words)[kHalves][kColumns], int side,
                                     int slot, Mids (&mids)[kHalves][kTerms][kGroups], int term) {
  using Signed = std::int8_t;
  using Byte = std::uint8_t;
  const RowEnd& end = ends.rows[term];
  std::uint32_t pairs[kHalves][kHalves];  // [columns][rows]: two lower bytes, two upper ones
  CONVFILT_UNROLL(kHalves)
  for (int half = 0; half < kHalves; ++half) {
    std::uint32_t own[kGroups];
    CONVFILT_UNROLL(kGroups)
    for (int group = 0; group < kGroups; ++group) own[group] = words[half][group + side];
    std::int32_t sums[4] = {};
    add_groups<Signed, Byte>(sums, band, kDigits - 1, own);
    if constexpr (kDigits == 2) {
      next_digit(sums, 0);
      add_groups<Byte, Byte>(sums, band, 0, own);
    }
    std::uint32_t ended[4];
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      ended[k] = std::uint32_t(sums[k]) * end.scale + end.start;
    }
    pairs[0][half] = pick_bytes(ended[0], ended[1], 0x7362);
    pairs[1][half] = pick_bytes(ended[2], ended[3], 0x7362);
  }
  CONVFILT_UNROLL(kHalves)
  for (int half = 0; half < kHalves; ++half) {
    mids[half][term][slot].low = pick_bytes(pairs[half][0], pairs[half][1], 0x5410);
    mids[half][term][slot].high = pick_bytes(pairs[half][0], pairs[half][1], 0x7632);
  }
}

/// From all terms' groups of one half of a block's columns, the lowest of which is in `slot`: the
/// sums of columns 2t and 2t + 1 of rows g and g + 8, begun at the end's start.
template <int kDigits, int kGroups, int kTerms>
CONVFILT_DEVICE inline void column_pass(const Band<kDigits, kGroups> (&bands)[kTerms],
                                        std::uint32_t start, const Mids (&mids)[kTerms][kGroups],
                                        int slot, std::int32_t (&sums)[4]) {
  using Signed = std::int8_t;
  using Byte = std::uint8_t;
  std::uint32_t low[kTerms][kGroups], high[kTerms][kGroups];
  CONVFILT_UNROLL(kTerms * kGroups)
  for (int k = 0; k < kTerms * kGroups; ++k) {
    const int term = k / kGroups, group = k % kGroups;
    low[term][group] = mids[term][(slot + 1 + group) % kGroups].low;
    high[term][group] = mids[term][(slot + 1 + group) % kGroups].high;
  }
  for (std::int32_t& sum : sums) sum = 0;
  CONVFILT_UNROLL(kTerms)
  for (int t = 0; t < kTerms; ++t) {
    add_groups<Signed, Signed>(sums, bands[t], kDigits - 1, high[t]);
  }
  if constexpr (kDigits == 1) {
    next_digit(sums, start);
    CONVFILT_UNROLL(kTerms)
    for (int t = 0; t < kTerms; ++t) add_groups<Signed, Byte>(sums, bands[t], 0, low[t]);
  } else {
    next_digit(sums, 0);
    CONVFILT_UNROLL(kTerms)
    for (int t = 0; t < kTerms; ++t) {
      add_groups<Byte, Signed>(sums, bands[t], 0, high[t]);
      add_groups<Signed, Byte>(sums, bands[t], 1, low[t]);
    }
    next_digit(sums, start);
    CONVFILT_UNROLL(kTerms)
    for (int t = 0; t < kTerms; ++t) add_groups<Byte, Byte>(sums, bands[t], 0, low[t]);
  }
}

/// The sums of a warp's blocks, by half of the columns.
template <int kBlocks>
using ColumnSums = std::int32_t[kBlocks][kHalves][4];

/// Words of four neighbouring outputs of rows g and g + 8 of each block, by an end of one sum.
template <int kBlocks, class End>
CONVFILT_DEVICE inline void end_by(const ColumnSums<kBlocks>& sums,
                                   std::uint32_t (&words)[2][kBlocks], End end) {
  CONVFILT_UNROLL(2 * kBlocks)
  for (int k = 0; k < 2 * kBlocks; ++k) {
    const auto& [first, second] = sums[k / 2];
    const int at = k % 2 * 2;
    words[k % 2][k / 2] =
        saturated_four(end(first[at]), end(first[at + 1]), end(second[at]), end(second[at + 1]));
  }
}

template <int kBlocks>
CONVFILT_DEVICE inline void end_columns(const LineEnds& ends, const ColumnSums<kBlocks>& sums,
                                        std::uint32_t (&words)[2][kBlocks]) {
  with_column_end(ends, [&](const auto& end) { end_by<kBlocks>(sums, words, end); });
}

}  // namespace convfilt::CONVFILT_BACKEND
