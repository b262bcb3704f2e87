/// A mask of rank 1 to 3 as separable_tensor.cu takes it: two lines of 16-bit weights and their
/// ends a term.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/half_to_even.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/separable_tensor/groups.hpp"
#include "kernels/separable_tensor/odd_quotient.hpp"

namespace convfilt {

constexpr int kMostTaps = kGroup * (kMostGroups - 1) + 1;

/// How the sums of columns are ended: by a shift, as an odd quotient, or as IntegerFinish does it.
enum class ColumnEnd { shift, odd, any };

/// A row's sum times scale, and start, in wrapping integers: the upper 16 bits are what lies
/// between the passes.
struct RowEnd {
  std::uint32_t scale = 1, start = 0;
};

/// How the sums of both passes end.
struct LineEnds {
  RowEnd rows[kMostTerms];  ///< of each term
  ColumnEnd column_end = ColumnEnd::any;
  std::uint32_t column_start = 0;  ///< that sums of columns begin at
  HalfToEven shift;
  OddQuotient odd;
  IntegerFinish any;
};

/// Calls f with the end that the columns' sums have.
template <class F>
CONVFILT_HD inline void with_column_end(const LineEnds& ends, F&& f) {
  switch (ends.column_end) {
    case ColumnEnd::shift: return f(ends.shift);
    case ColumnEnd::odd: return f(ends.odd);
    case ColumnEnd::any: break;
  }
  f(ends.any);
}

/// What the kernel gets, by value.
struct TensorLines {
  int width = 0, height = 0;
  int dx = 0, dy = 0;  ///< output (x, y) begins with in(x + dx, y + dy), in pixels
  LineEnds ends;
  int terms = 0;
  std::int16_t rows[kMostTerms][kMostTaps] = {}, columns[kMostTerms][kMostTaps] = {};
};

/// The least and the largest that the sums of a line reach with samples lowest..highest.
struct Reach {
  std::int64_t least = 0, largest = 0;
};
inline Reach reach_of(const std::vector<std::int32_t>& weights, int lowest, int highest) {
  Reach reach;
  for (const std::int64_t w : weights) {
    reach.least += w * (w < 0 ? highest : lowest);
    reach.largest += w * (w < 0 ? lowest : highest);
  }
  return reach;
}

/// Whether no sum of a row pass is saturated, which separable.hpp's choice of bits sees to.
inline bool rows_fit(const SeparableMask<std::uint8_t>& mask) {
  return std::all_of(mask.terms.begin(), mask.terms.end(), [](const auto& term) {
    const Reach reach = reach_of(term.row.weights, 0, 255);
    return reach.least >= term.row.finish.lowest_sum &&
           reach.largest <= term.row.finish.highest_sum;
  });
}

inline LineEnds line_ends(const SeparableMask<std::uint8_t>& mask) {
  LineEnds ends;
  Reach reach;  // of all terms' columns
  RowEnd* end = ends.rows;
  for (const auto& [row, column] : mask.terms) {
    const HalfToEven row_end = half_to_even(row.finish);
    end->scale = 1u << (16 - row_end.shift);
    end->start = std::uint32_t(row_end.start) * end->scale;
    ++end;
    const Reach rows = reach_of(row.weights, 0, 255);
    const Reach own = reach_of(column.weights, row.finish(std::int32_t(rows.least)),
                               row.finish(std::int32_t(rows.largest)));
    reach = {reach.least + own.least, reach.largest + own.largest};
    ends.any = column.finish;
  }
  const HalfToEven shift = half_to_even(ends.any);
  const bool odd = ends.any.divisor % 2 == 1;
  const std::int64_t start = start_of(ends.any);
  const bool fits = reach.least + start >= INT32_MIN && reach.largest + start < INT32_MAX;
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

/// Lines of at most kMostTaps.
inline TensorLines tensor_lines(const SeparableMask<std::uint8_t>& mask) {
  TensorLines lines;
  lines.width = mask.width();
  lines.height = mask.height();
  lines.ends = line_ends(mask);
  for (const auto& [row, column] : mask.terms) {
    std::copy(row.weights.begin(), row.weights.end(), lines.rows[lines.terms]);
    std::copy(column.weights.begin(), column.weights.end(), lines.columns[lines.terms]);
    ++lines.terms;
  }
  return lines;
}

/// Digits of base 256 that the weights of all lines fit in, as a kernel takes them.
inline int digits_of(const SeparableMask<std::uint8_t>& mask) {
  const auto fits = [](const std::vector<std::int32_t>& weights) {
    return std::all_of(weights.begin(), weights.end(),
                       [](std::int32_t w) { return w >= -128 && w <= 127; });
  };
  const auto& term = mask.terms.front();
  return mask.terms.size() == 1 && fits(term.row.weights) && fits(term.column.weights) ? 1 : 2;
}

}  // namespace convfilt
