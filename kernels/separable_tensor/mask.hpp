/// A mask of rank 1 to 3 as separable-tensor's kernels take it: how many slices its rows and
/// columns need, their 16-bit weights, and how the sums of both passes end.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/bytes.hpp"
#include "kernels/contract/ceil_div.hpp"
#include "kernels/contract/finish.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/contract/sum_ends.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt::separable_tensor {

constexpr int kSlice = 16;  ///< places along a row or column that a product takes
constexpr int kMostSlices = 9;
constexpr int kMostTaps = kSlice * (kMostSlices - 1) + 1;

/// The most slices that a kernel takes. Three channels are split in shared memory, which has room
/// for fewer slices. With several terms, registers hold fewer.
constexpr int most_slices(int channels, int terms) {
  if (terms == 1) return channels == 1 ? kMostSlices : 5;
  return channels == 1 && terms == 2 ? 5 : 3;
}

/// Slices that cover the taps of a slice of outputs, along the axis that needs more.
constexpr int slices_of(int mask_width, int mask_height, int dx) {
  const int across = slack_of(dx) + kSlice - 1 + mask_width, down = kSlice - 1 + mask_height;
  return ceil_div(std::max(across, down), kSlice);
}

/// An end of 8-bit sums by one multiplication, for odd divisors, which leave no ties. A sum that
/// began at start_of() is multiplied by 2^(32 + shift) / divisor, rounded up, and the upper 32 bits
/// of the product are shifted.
struct OddQuotient {
  std::int32_t magic = 0;
  std::uint32_t shift = 0;

  CONVFILT_HD std::int32_t operator()(std::int32_t sum) const {
#ifdef __CUDA_ARCH__
    return __mulhi(sum, magic) >> shift;
#else
    return std::int32_t(std::int64_t(sum) * magic >> 32) >> shift;
#endif
  }
};

/// Makes the end from a finish for samples of 0..255 whose divisor is odd and above 1. The end does
/// not saturate: quotients above 255 may err, but stay above 255. (n * error < 2^(32 + shift)
/// holds, since the error is below the divisor, as in finish.hpp.)
inline OddQuotient odd_quotient(const IntegerFinish& finish) {
  OddQuotient end;
  const std::uint64_t divisor = finish.divisor;
  while (256 * divisor * divisor >> (32 + end.shift) != 0) ++end.shift;
  end.magic = std::int32_t(((std::uint64_t(1) << (32 + end.shift)) + divisor - 1) / divisor);
  return end;
}

/// How the sums of the column pass end: by HalfToEven's shift, by OddQuotient, or as IntegerFinish
/// ends them.
enum class ColumnEnd { shift, odd, any };

/// How the sums of the row pass end. The upper 16 bits of sum * scale + start, in wrapping
/// integers, are the row sum.
struct RowEnd {
  std::uint32_t scale = 1, start = 0;

  CONVFILT_HD std::uint32_t operator()(std::int32_t sum) const {
    return std::uint32_t(sum) * scale + start;
  }
};

/// Four row sums as operands of the column pass: a word of their lower bytes, and one of the upper
/// bytes, which have the sign. They are made of two pairs of ended sums.
struct FourRowSums {
  std::uint32_t low, high;
};
CONVFILT_HD inline std::uint32_t pair_of(std::uint32_t first_ended, std::uint32_t second_ended) {
  return pick_bytes(first_ended, second_ended, 0x7362);
}
CONVFILT_HD inline FourRowSums four_row_sums(std::uint32_t first_pair, std::uint32_t second_pair) {
  return {pick_bytes(first_pair, second_pair, 0x5410), pick_bytes(first_pair, second_pair, 0x7632)};
}

/// Makes room in a lane's sums for the next digit: multiplies them by 256 and adds `start`.
/// Separate sums for each digit would need more registers, and an SM would have room for fewer
/// blocks.
template <int kCount>
CONVFILT_HD inline void next_digit(std::int32_t (&sums)[kCount], std::uint32_t start = 0) {
  for (std::int32_t& sum : sums) sum = std::int32_t(std::uint32_t(sum) * 256 + start);
}

/// How the sums of both passes end.
struct Ends {
  RowEnd rows[kMostTerms];  ///< one for each term
  ColumnEnd column_end = ColumnEnd::any;
  std::uint32_t column_start = 0;  ///< what the column pass's sums begin at
  HalfToEven shift;
  OddQuotient odd;
  IntegerFinish any;
};

/// Calls f with the end of the column pass.
template <class F>
CONVFILT_HD inline void with_column_end(const Ends& ends, F&& f) {
  switch (ends.column_end) {
    case ColumnEnd::shift: return f(ends.shift);
    case ColumnEnd::odd: return f(ends.odd);
    case ColumnEnd::any: break;
  }
  f(ends.any);
}

/// The mask as the kernel takes it, by value.
struct KernelMask {
  int width = 0, height = 0;
  int dx = 0, dy = 0;  ///< output (x, y) begins with in(x + dx, y + dy); in pixels
  Ends ends;
  int terms = 0;
  std::int16_t rows[kMostTerms][kMostTaps] = {}, columns[kMostTerms][kMostTaps] = {};
};

/// The least and the largest sum of products of weights with samples lowest..highest.
struct SumRange {
  std::int64_t least = 0, largest = 0;
};
inline SumRange sum_range(const std::vector<std::int32_t>& weights, int lowest, int highest) {
  SumRange range;
  for (const std::int64_t w : weights) {
    range.least += w * (w < 0 ? highest : lowest);
    range.largest += w * (w < 0 ? lowest : highest);
  }
  return range;
}

/// Whether the row pass saturates no sum. contract/separable.cpp chooses bits so that this holds.
inline bool rows_fit(const SeparableMask<std::uint8_t>& mask) {
  return std::all_of(mask.terms.begin(), mask.terms.end(), [](const auto& term) {
    const SumRange range = sum_range(term.row.weights, 0, 255);
    return range.least >= term.row.finish.lowest_sum &&
           range.largest <= term.row.finish.highest_sum;
  });
}

inline Ends ends_of(const SeparableMask<std::uint8_t>& mask) {
  Ends ends;
  SumRange range;  // for all terms' columns together
  RowEnd* end = ends.rows;
  for (const auto& [row, column] : mask.terms) {
    const HalfToEven row_end = half_to_even(row.finish);
    end->scale = 1u << (16 - row_end.shift);
    end->start = std::uint32_t(row_end.start) * end->scale;
    ++end;
    const SumRange rows = sum_range(row.weights, 0, 255);
    const SumRange own = sum_range(column.weights, row.finish(std::int32_t(rows.least)),
                                   row.finish(std::int32_t(rows.largest)));
    range = {range.least + own.least, range.largest + own.largest};
    ends.any = column.finish;
  }
  const HalfToEven shift = half_to_even(ends.any);
  const bool odd = ends.any.divisor % 2 == 1;
  const std::int64_t start = start_of(ends.any);
  const bool fits = range.least + start >= INT32_MIN && range.largest + start < INT32_MAX;
  if (fits && (shift.usable || odd)) {
    ends.column_end = shift.usable ? ColumnEnd::shift : ColumnEnd::odd;
    ends.column_start = std::uint32_t(start);
    if (shift.usable) {
      ends.shift = shift;
    } else {
      ends.odd = odd_quotient(ends.any);
    }
  }
  return ends;
}

/// The mask, whose sides are at most kMostTaps, without dx and dy.
inline KernelMask kernel_mask(const SeparableMask<std::uint8_t>& mask) {
  KernelMask m;
  m.width = mask.width();
  m.height = mask.height();
  m.ends = ends_of(mask);
  for (const auto& [row, column] : mask.terms) {
    std::copy(row.weights.begin(), row.weights.end(), m.rows[m.terms]);
    std::copy(column.weights.begin(), column.weights.end(), m.columns[m.terms]);
    ++m.terms;
  }
  return m;
}

/// The number of digits of base 256 in which the kernel takes the weights of all rows and columns.
inline int digits_of(const SeparableMask<std::uint8_t>& mask) {
  const auto fits = [](const std::vector<std::int32_t>& weights) {
    return std::all_of(weights.begin(), weights.end(),
                       [](std::int32_t w) { return w >= -128 && w <= 127; });
  };
  const auto& term = mask.terms.front();
  return mask.terms.size() == 1 && fits(term.row.weights) && fits(term.column.weights) ? 1 : 2;
}

}  // namespace convfilt::separable_tensor
