/// How rows come to separable_groups.cu's shared memory, and outputs back from there.
#pragma once

#include "kernels/backend/boxes.hpp"
#include "kernels/plan/edge_row.hpp"
#include "kernels/separable_tensor/warpgroup/grid.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kPassThreads = 128;
constexpr int kPassAhead = 2;  // groups of rows that are being copied

/// Boxes side by side that a strip's rows come in.
CONVFILT_HD inline int boxes_of(const PassGrid& grid) {
  return ceil_div(grid.steps * kPassStep, kBoxBytes);
}

/// Words of a row of outputs: four more than they fill, so that neighbouring rows lie in different
/// banks.
constexpr int kStageWords = kPassColumns / 4 + 4;
constexpr int kStages = 2;

/// What a block reads and writes, and its shared memory.
struct PassPlace {
  const BoxSource& samples;  ///< of the picture's rows, from the padding on
  int height;                ///< of the picture
  PlaneView<std::uint8_t> out;
  std::uint8_t ghost;
  Border border;
  SharedWords rows, bands, stages, arrivals;
};

/// Copies a strip's rows by the first warp, kPassRows at a time, which are kBoxRows.
class PassCopies {
 public:
  CONVFILT_DEVICE PassCopies(int x, int y, int groups, int boxes)
      : x_(x), y_(y), left_(groups), boxes_(boxes) {}

  CONVFILT_DEVICE void copy_group(const PassPlace& place) {
    if (threadIdx.x < kBoxRows && left_ > 0) {
      if (y_ < 0 || y_ + kPassRows > place.height) {
        copy_edge(place);
      } else if (threadIdx.x == 0) {
        expect(place.arrivals, 2 * slot_, boxes_ * kBoxWords * 4);
        CONVFILT_UNROLL(1)
        for (int box = 0; box < boxes_; ++box) {
          copy_box(place.samples, x_ + box * kBoxBytes, y_, place.rows, slot_ * boxes_ + box,
                   place.arrivals.from(2 * slot_));
        }
      }
    }
    y_ += kPassRows;
    --left_;
    slot_ = slot_ == kPassAhead ? 0 : slot_ + 1;
  }

 private:
  /// A row a thread.
  CONVFILT_DEVICE void copy_edge(const PassPlace& place) const {
    const int row = threadIdx.x, y = edge_row(place.border, y_ + row, place.height);
    if (row == 0) {
      const bool all = place.border != Border::constant;
      const int rows = all ? kPassRows : min(y_ + kPassRows, place.height) - max(y_, 0);
      expect(place.arrivals, 2 * slot_, max(0, rows) * boxes_ * kBoxBytes);
    }
    CONVFILT_UNROLL(1)
    for (int box = 0; box < boxes_; ++box) {
      const int at = slot_ * boxes_ + box;
      if (y >= 0) {
        copy_box_row(place.samples, x_ + box * kBoxBytes, y, place.rows, at, row,
                     place.arrivals.from(2 * slot_));
      } else {
        set_box_row(place.rows, at, row, place.ghost * 0x01010101u);
        for (int sample = 0; sample < kBoxBytes; ++sample) count_ghost_cell();
      }
    }
    hand_over();
  }

  int x_, y_, left_, boxes_, slot_ = 0;
};
static_assert(kPassRows == kBoxRows);

/// Stores groups of outputs from the stages, one after the other: each thread 16 of a row.
class PassSink {
 public:
  CONVFILT_DEVICE PassSink(const PassPlace& place, int x, int from, int to)
      : row_(int(threadIdx.x) / kChunks),
        left_(to - from - row_),
        at_(row_ * kStageWords + int(threadIdx.x) % kChunks * 4) {
    const int own_x = x + int(threadIdx.x) % kChunks * kChunk;
    count_ = place.out.width - own_x;
    out_ = place.out.row(from + row_) + own_x;
  }

  CONVFILT_DEVICE void store_group(const PassPlace& place) {
    const auto four = place.stages.get4<std::uint32_t>(at_);
    if (left_ > 0 && count_ >= kChunk) {
      *reinterpret_cast<Four<std::uint32_t>*>(out_) = four;
    } else if (left_ > 0) {
      CONVFILT_UNROLL(kChunk)
      for (int k = 0; k < kChunk; ++k) {
        if (k < count_) out_[k] = std::uint8_t(four.samples[k / 4] >> (8 * (k % 4)));
      }
    }
    out_ += kPassRows * place.out.stride;
    left_ -= kPassRows;
    at_ += at_ < kPassRows * kStageWords ? kPassRows * kStageWords : -kPassRows * kStageWords;
  }

 private:
  static constexpr int kChunks = kPassColumns / kChunk;
  static_assert(kPassThreads == kPassRows * kChunks, "a block stores a group at once");

  int row_, left_, at_, count_ = 0;
  std::uint8_t* out_ = nullptr;
};

}  // namespace convfilt::CONVFILT_BACKEND
