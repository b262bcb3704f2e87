/// How rows get to the shared memory of warpgroup.cu, the two passes as products of warpgroups, the
/// row sums between them, and how outputs get from shared memory to the picture.
#pragma once

#include "kernels/backend/boxes.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/plan/ghost_cells.hpp"
#include "kernels/separable_tensor/mask.hpp"
#include "kernels/separable_tensor/warpgroup/layout.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup {

using namespace convfilt::separable_tensor;
using namespace convfilt::separable_tensor::warpgroup;

using std::int32_t, std::int8_t, std::uint32_t, std::uint8_t;

constexpr int kThreads = 128;
constexpr int kAhead = 2;  ///< slices of rows that are being copied

/// The number of boxes side by side that hold a strip's rows.
CONVFILT_HD inline int boxes_of(const Grid& grid) {
  return ceil_div(grid.steps * kStep, kBoxBytes);
}

/// Words of a row of a stage, in which a slice of outputs is collected. They are four more than
/// outputs fill, so that neighbouring rows lie in different banks.
constexpr int kStageWords = kColumns / 4 + 4;
constexpr int kStages = 2;

/// The rows that a block reads, the picture that it writes, and its shared memory.
struct Block {
  const BoxSource& samples;  ///< the picture's rows with their padding
  int height;                ///< the picture's height
  PlaneView<std::uint8_t> out;
  std::uint8_t ghost;
  Border border;
  SharedWords rows, matrices, stages, arrivals;
};

/// Copies a strip's rows, a slice at a time. Only the first warp does so.
class RowCopies {
 public:
  CONVFILT_DEVICE RowCopies(int x, int y, int slices, int boxes)
      : x_(x), y_(y), left_(slices), boxes_(boxes) {}

  CONVFILT_DEVICE void copy_slice(const Block& block) {
    if (threadIdx.x < kBoxRows && left_ > 0) {
      if (y_ < 0 || y_ + kRows > block.height) {
        copy_edge(block);
      } else if (threadIdx.x == 0) {
        expect(block.arrivals, 2 * slot_, boxes_ * kBoxWords * 4);
        CONVFILT_UNROLL(1)
        for (int box = 0; box < boxes_; ++box) {
          copy_box(block.samples, x_ + box * kBoxBytes, y_, block.rows, slot_ * boxes_ + box,
                   block.arrivals.from(2 * slot_));
        }
      }
    }
    y_ += kRows;
    --left_;
    slot_ = slot_ == kAhead ? 0 : slot_ + 1;
  }

 private:
  /// Copies a slice that does not wholly lie in the picture. Each thread of the warp copies one
  /// row.
  CONVFILT_DEVICE void copy_edge(const Block& block) const {
    const int row = threadIdx.x, y = edge_row(block.border, y_ + row, block.height);
    if (row == 0) {
      const bool all = block.border != Border::constant;
      const int rows = all ? kRows : min(y_ + kRows, block.height) - max(y_, 0);
      expect(block.arrivals, 2 * slot_, max(0, rows) * boxes_ * kBoxBytes);
    }
    CONVFILT_UNROLL(1)
    for (int box = 0; box < boxes_; ++box) {
      const int at = slot_ * boxes_ + box;
      if (y >= 0) {
        copy_box_row(block.samples, x_ + box * kBoxBytes, y, block.rows, at, row,
                     block.arrivals.from(2 * slot_));
      } else {
        set_box_row(block.rows, at, row, ghost_word(block.ghost));
        count_ghost_cells(kBoxBytes);
      }
    }
    hand_over();
  }

  int x_, y_, left_, boxes_, slot_ = 0;
};
static_assert(kRows == kBoxRows, "a slice is a row of boxes");

/// Stores slices of outputs from the stages, one after the other. Each thread stores 16 outputs of
/// a row.
class Sink {
 public:
  CONVFILT_DEVICE Sink(const Block& block, int x, int from, int to)
      : row_(int(threadIdx.x) / kChunks),
        left_(to - from - row_),
        at_(row_ * kStageWords + int(threadIdx.x) % kChunks * 4) {
    const int own_x = x + int(threadIdx.x) % kChunks * kChunk;
    count_ = block.out.width - own_x;
    out_ = block.out.row(from + row_) + own_x;
  }

  CONVFILT_DEVICE void store_slice(const Block& block) {
    const auto four = block.stages.get4<std::uint32_t>(at_);
    if (left_ > 0 && count_ >= kChunk) {
      *reinterpret_cast<Four<std::uint32_t>*>(out_) = four;
    } else if (left_ > 0) {
      CONVFILT_UNROLL(kChunk)
      for (int k = 0; k < kChunk; ++k) {
        if (k < count_) out_[k] = std::uint8_t(four.samples[k / 4] >> (8 * (k % 4)));
      }
    }
    out_ += kRows * block.out.stride;
    left_ -= kRows;
    at_ += at_ < kRows * kStageWords ? kRows * kStageWords : -kRows * kStageWords;
  }

 private:
  static constexpr int kChunks = kColumns / kChunk;
  static_assert(kThreads == kRows * kChunks, "a block stores a slice at once");

  int row_, left_, at_, count_ = 0;
  std::uint8_t* out_ = nullptr;
};

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
