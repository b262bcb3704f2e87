/// The sums of a thread: how they begin, how a strip's rows are multiplied with the mask's banded
/// matrices, how sums wait between two parts of a mask, and how they end.
#pragma once

#include <type_traits>

#include "kernels/contract/bytes.hpp"
#include "kernels/contract/sum_ends.hpp"
#include "kernels/tensor/warpgroup/block.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup {

template <int kDigits>
using Sums = int32_t[8 * kDigits * rows_together(kDigits)];

/// Begins sums that end in floats. All others begin with their first product.
template <int kDigits>
CONVFILT_DEVICE inline void start(const FloatEnd& end, Sums<kDigits>& sums) {
  CONVFILT_UNROLL(8 * kDigits * rows_together(kDigits))
  for (int k = 0; k < 8 * kDigits * rows_together(kDigits); ++k) {
    sums[k] = kDigits == 1 || k / 8 % kDigits > 0 ? end.start : end.low_start;
  }
}

/// A thread's sums of the parts before, in fours. Their order does not matter, since only this
/// thread reads them.
template <int kDigits>
class CarriedSums {
 public:
  /// Begins at row `first` of the plane, where a plane exists.
  CONVFILT_DEVICE CarriedSums(const PlaneView<int32_t>& all, int first)
      : all_(reinterpret_cast<Four<int32_t>*>(all.data)),
        at_(std::ptrdiff_t(first) * (kColumns / 4) + threadIdx.x) {}

  /// Fetches the sums that lie `rows_on` rows further down, early enough that no thread waits.
  CONVFILT_DEVICE void fetch(int rows_on) {
    CONVFILT_UNROLL(kFours)
    for (int four = 0; four < kFours; ++four) {
      fetched_[four] = all_[at_ + (2 * rows_on + four) * kThreads];
    }
  }
  /// Begins the lowest digit's sums with what was fetched.
  CONVFILT_DEVICE void start(Sums<kDigits>& sums) const {
    CONVFILT_UNROLL(kFours)
    for (int four = 0; four < kFours; ++four) {
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        sums[place(four, 0, k)] = fetched_[four].samples[k];
        CONVFILT_UNROLL(kDigits)
        for (int digit = 1; digit < kDigits; ++digit) sums[place(four, digit, k)] = 0;
      }
    }
  }
  CONVFILT_DEVICE void keep(const Sums<kDigits>& sums) const {
    CONVFILT_UNROLL(kFours)
    for (int four = 0; four < kFours; ++four) {
      Four<int32_t> totals;
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        const auto sum = [&](int digit) { return sums[place(four, digit, k)]; };
        totals.samples[k] = DigitSums<kDigits>{sum(kDigits - 1), sum(kDigits / 2), sum(0)}.total();
      }
      all_[at_ + four * kThreads] = totals;
    }
  }
  CONVFILT_DEVICE void go_down() { at_ += kFours * kThreads; }

 private:
  static constexpr int kFours = 2 * rows_together(kDigits);  // fours in rows_together() rows

  static CONVFILT_DEVICE constexpr int place(int four, int digit, int k) {
    return ((four / 2 * kDigits + digit) * 2 + k / 2) * 4 + four % 2 * 2 + k % 2;
  }
  Four<int32_t>* all_;
  std::ptrdiff_t at_;
#ifdef CONVFILT_EMULATE
  Four<int32_t> fetched_[kFours] = {};  // GCC does not see that start() always follows fetch()
#else
  Four<int32_t> fetched_[kFours];  // zeros would cost the kernel instructions
#endif
};

/// Multiplies one row after the other with the banded matrices of all outputs that need the row.
/// With kHalf only half of the last step is needed, and two rows' halves share a product.
template <int kDigits, int kSteps, bool kHalf>
class RowProducts {
 public:
  /// The first row begins at byte `first`. The rows form a ring, which ends at byte `end`.
  CONVFILT_DEVICE RowProducts(const Place& place, int matrices, int first, int end)
      : step_(matrices * kMatrix),
        first_(first),
        end_(end),
        rows_(operand(place.rows, kChunk, 8 * kChunk)),
        matrices_(operand(place.matrices, 8 * kChunk, 2 * 8 * kChunk)),
        half_rows_(operand(place.rows.from(kWhole * kStep / 4), kPitch, 8 * kChunk)),
        half_matrices_(operand(place.matrices.from(kWhole * step_ / 4), kMatrix / 2, 8 * kChunk)) {}

  CONVFILT_DEVICE void add(Sums<kDigits>& sums, bool keep) {
    CONVFILT_UNROLL(kWhole)
    for (int step = 0; step < kWhole; ++step) {
      multiply(sums, rows_.from(first_ + step * kStep), matrices_.from(matrix_ + step * step_),
               keep || step > 0);
    }
    matrix_ += kMatrix;
    first_ += kPitch;
    if (first_ == end_) first_ = 0;
  }
  /// Adds two successive rows.
  CONVFILT_DEVICE void add_two(Sums<kDigits>& sums, bool keep) {
    const int row = first_, matrix = matrix_;
    add(sums, keep);
    add(sums, true);
    if (kHalf) multiply(sums, half_rows_.from(row), half_matrices_.from(matrix / 2), true);
  }

 private:
  static constexpr int kMatrix = matrix_bytes_of(kDigits), kWhole = kSteps - kHalf;
  static constexpr int kPitch = pitch_words(kSteps) * 4;

  int step_, first_, end_, matrix_ = 0;
  Operand rows_, matrices_, half_rows_, half_matrices_;
};

/// Adds all rows that a product's outputs need. kHeight is the mask's height, or 0 for any height.
/// The loop is unrolled where the height is known, since each turn of a loop waits for its
/// products.
template <int kHeight, int kDigits, class Products>
CONVFILT_DEVICE inline void add_rows(Products products, int height, Sums<kDigits>& sums,
                                     bool keep) {
  constexpr int kMore = rows_together(kDigits) - 1, kTwos = 2;
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

/// Calls f with the end in floats where the mask has one, else with all ends, of which end_sums()
/// takes one.
template <int kDigits, class F>
CONVFILT_DEVICE inline void with_end(const Ends& end, F&& f) {
  if constexpr (kDigits < 3) {
    if (end.floats.usable) return f(end.floats);
  }
  f(end);
}

/// A thread's outputs, four neighbours in a word. In each of the rows_together() rows a thread has
/// one word of its first segment and one of its second.
template <int kDigits>
using Words = uint32_t[rows_together(kDigits)][2];

template <int kDigits, class End>
CONVFILT_DEVICE inline void end_sums(const End& end, const Sums<kDigits>& sums,
                                     Words<kDigits>& words) {
  constexpr int kRows = rows_together(kDigits);
  if constexpr (std::is_same_v<End, Ends>) {
    if (end.halves.usable) {
      end_sums<kDigits>(LateStart{end.halves}, sums, words);
    } else {
      end_sums<kDigits>(end.any, sums, words);
    }
  } else {
    CONVFILT_UNROLL(kRows)
    for (int row = 0; row < kRows; ++row) {
      CONVFILT_UNROLL(2)
      for (int half = 0; half < 2; ++half) {
        const auto ended = [&](int k) {
          const auto sum = [&](int digit) {
            return sums[(((kRows - 1 - row) * kDigits + digit) * 2 + k / 2) * 4 + half * 2 + k % 2];
          };
          return DigitSums<kDigits>{sum(kDigits - 1), sum(kDigits / 2), sum(0)}.ended(end);
        };
        words[row][half] = saturated_four(ended(0), ended(1), ended(2), ended(3));
      }
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup
