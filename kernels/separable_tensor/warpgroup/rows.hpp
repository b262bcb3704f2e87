/// How rows get to the shared memory of warpgroup.cu, and how outputs get from there to the
/// picture.
#pragma once

#include "kernels/backend/boxes.hpp"
#include "kernels/plan/ghost_cells.hpp"
#include "kernels/separable_tensor/warpgroup/layout.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup {

using namespace convfilt::separable_tensor::warpgroup;

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

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup
