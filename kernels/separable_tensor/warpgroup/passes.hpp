/// The two passes of warpgroup.cu as products of warpgroups, and the row sums between them.
#pragma once

#include "kernels/contract/bytes.hpp"
#include "kernels/separable_tensor/mask.hpp"
#include "kernels/separable_tensor/warpgroup/rows.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup {

using namespace convfilt::separable_tensor;

using std::int32_t, std::int8_t, std::uint32_t, std::uint8_t;

constexpr int kLaneSums = kColumns * kRows / kThreads;

/// The type of a weight's digit. Digit 0 is the top one, which has the sign.
template <int kDigit>
using DigitOf = std::conditional_t<kDigit == 0, int8_t, uint8_t>;

/// A banded matrix of banded_matrices() as an operand.
CONVFILT_DEVICE inline Operand matrix_operand(SharedWords words) {
  return operand(words, 8 * 16, 2 * 8 * 16);
}

/// The matrices of the row pass. A lane keeps its words of all kSteps matrices in registers. Where
/// kSteps is 0, their number is known only at run time, and they stay in shared memory, which makes
/// products take half as long again.
template <int kDigits, int kSteps>
class RowMatrices {
 public:
  CONVFILT_DEVICE RowMatrices(SharedWords matrices, int) {
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    CONVFILT_UNROLL(kSteps * kDigits * 4)
    for (int k = 0; k < kSteps * kDigits * 4; ++k) {
      const int row = 2 * warp + k % 2, half = k % 4 / 2;  // counted in core matrices
      words_[k / 4][k % 4] =
          matrices.get<uint32_t>(k / 4 * (kRowMatrixBytes / 4) + row * 64 + half * 32 + g * 4 + t);
    }
  }
  /// Adds the products of one digit in all steps. The first product of digit 0 sets the sums.
  template <int kDigit>
  CONVFILT_DEVICE void multiply_rows(int32_t (&sums)[kLaneSums], const Operand& rows) const {
    CONVFILT_UNROLL(kSteps)
    for (int step = 0; step < kSteps; ++step) {
      const auto& matrix = words_[step * kDigits + kDigit];
      multiply<DigitOf<kDigit>, uint8_t>(sums, matrix, rows.from(box_step(step)),
                                         kDigit > 0 || step > 0);
    }
  }

 private:
  uint32_t words_[kSteps * kDigits][4];
};

template <int kDigits>
class RowMatrices<kDigits, 0> {
 public:
  CONVFILT_DEVICE RowMatrices(SharedWords matrices, int steps)
      : matrices_(matrix_operand(matrices)), steps_(steps) {}

  template <int kDigit>
  CONVFILT_DEVICE void multiply_rows(int32_t (&sums)[kLaneSums], const Operand& rows) const {
    // Several steps a turn pay, since each turn of a loop waits for its products at the end.
    CONVFILT_UNROLL(1)
    for (int step = 0; step < steps_; step += kStepsTogether) {
      CONVFILT_UNROLL(kStepsTogether)
      for (int k = 0; k < kStepsTogether; ++k) {
        const Operand matrix = matrices_.from(((step + k) * kDigits + kDigit) * kRowMatrixBytes);
        multiply<DigitOf<kDigit>, uint8_t>(sums, matrix, rows.from(box_step(step + k)),
                                           kDigit > 0 || step + k > 0);
      }
    }
  }

 private:
  Operand matrices_;
  int steps_;
};

/// A lane's row sums of kSlices slices of rows: words of their upper bytes, which have the sign,
/// and words of their lower bytes.
template <int kSlices>
struct RowSums {
  uint32_t high[kSlices][4] = {}, low[kSlices][4] = {};

  /// Ends the row pass's sums of the next slice, and drops the row sums of the uppermost slice.
  CONVFILT_DEVICE void push(const RowEnd& row_end, const int32_t (&sums)[kLaneSums]) {
    CONVFILT_UNROLL(4 * (kSlices - 1))
    for (int k = 0; k < 4 * (kSlices - 1); ++k) {
      high[k / 4][k % 4] = high[k / 4 + 1][k % 4];
      low[k / 4][k % 4] = low[k / 4 + 1][k % 4];
    }
    CONVFILT_UNROLL(4)
    for (int word = 0; word < 4; ++word) {
      const int k = word / 2 * 8 + word % 2 * 2;
      const auto four = four_row_sums(pair_of(row_end(sums[k]), row_end(sums[k + 1])),
                                      pair_of(row_end(sums[k + 4]), row_end(sums[k + 5])));
      low[kSlices - 1][word] = four.low;
      high[kSlices - 1][word] = four.high;
    }
  }
};

/// Finishes the row pass, whose products with the top digit have been begun.
template <int kDigits, int kSteps>
CONVFILT_DEVICE inline void finish_rows(int32_t (&sums)[kLaneSums],
                                        const RowMatrices<kDigits, kSteps>& matrices,
                                        const Operand& rows) {
  finish_products(sums);
  if constexpr (kDigits == 2) {
    next_digit(sums);
    begin_products();
    matrices.template multiply_rows<1>(sums, rows);
    commit_products();
    finish_products(sums);
  }
}

/// Computes the column pass, whose sums begin at `start`.
template <int kDigits, int kSlices>
CONVFILT_DEVICE inline void multiply_columns(int32_t (&sums)[kLaneSums],
                                             const RowSums<kSlices>& row_sums,
                                             const Operand& matrices, uint32_t start) {
  const auto matrix = [&](int slice, int digit) {
    return matrices.from((slice * kDigits + digit) * kColumnMatrixBytes);
  };
  begin_products();
  CONVFILT_UNROLL(kSlices)
  for (int slice = 0; slice < kSlices; ++slice) {
    multiply<int8_t, int8_t>(sums, row_sums.high[slice], matrix(slice, 0), slice > 0);
  }
  commit_products();
  finish_products(sums);
  if constexpr (kDigits == 2) {
    next_digit(sums);
    begin_products();
    CONVFILT_UNROLL(kSlices)
    for (int slice = 0; slice < kSlices; ++slice) {
      multiply<int8_t, uint8_t>(sums, row_sums.high[slice], matrix(slice, 1));
      multiply<uint8_t, int8_t>(sums, row_sums.low[slice], matrix(slice, 0));
    }
    commit_products();
    finish_products(sums);
  }
  next_digit(sums, start);
  begin_products();
  CONVFILT_UNROLL(kSlices)
  for (int slice = 0; slice < kSlices; ++slice) {
    multiply<uint8_t, DigitOf<kDigits - 1>>(sums, row_sums.low[slice], matrix(slice, kDigits - 1));
  }
  commit_products();
  finish_products(sums);
}

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup
