/// How rows come to tensor_groups.cu's shared memory, with what the border makes up beside them.
#pragma once

#include "kernels/contract/border.hpp"
#include "kernels/plan/edge_row.hpp"
#include "kernels/tensor/warpgroup/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Copies the rows of a strip to shared memory, one after the other and round, two at a time: each
/// half of the block one. What counts them is the same for all threads. `rows`: an even number.
class RowCopies {
 public:
  CONVFILT_DEVICE RowCopies(const GroupPlace& place, int x, int y, int rows, int chunks, int pitch,
                            int kept)
      : x_(x + chunk() * kChunk),
        end_y_(y + rows),
        twos_(rows / 2),
        two_(2 * pitch),
        end_(kept * pitch),
        inside_(y >= 0 && end_y_ <= place.samples.height),
        more_(chunk() < chunks - 1),
        own_(place.rows.from(half() * pitch + chunk() * 4)),
        line_(from_own(place.samples.rows(y + half(), 1))) {}

  CONVFILT_DEVICE void copy_two(const GroupPlace& place) {
    if (twos_ > 0) {
      if (inside_) {
        copy(line_);
      } else {
        const int y = edge_row(place.border, end_y_ - 2 * twos_ + half(), place.samples.height);
        if (y >= 0) {
          copy(from_own(place.samples.rows(y, 1)));
        } else {
          fill(place);
        }
      }
    }
    line_.data += 2 * place.samples.stride;
    --twos_;
    at_ += two_;
    if (at_ == end_) at_ = 0;
  }

 private:
  static constexpr int kHalf = kGroupThreads / 2;
  static_assert(kHalf * kChunk == kGroupColumns, "half a block copies a row's segments at once");

  static CONVFILT_DEVICE int half() { return int(threadIdx.x) / kHalf; }
  static CONVFILT_DEVICE int chunk() { return int(threadIdx.x) % kHalf; }

  /// The row from this thread's samples on.
  CONVFILT_DEVICE PlaneView<const uint8_t> from_own(const PlaneView<const uint8_t>& line) const {
    return {line.data + x_, line.width - x_, line.height, line.stride};
  }
  CONVFILT_DEVICE void copy(const PlaneView<const uint8_t>& line) const {
    copy16(line, 0, 0, own_, at_);
    if (more_) copy16(line, kHalf * kChunk, 0, own_, at_ + kHalf * 4);
  }
  CONVFILT_DEVICE void fill(const GroupPlace& place) const {
    const uint32_t word = place.ghost * 0x01010101u;
    const Four<uint32_t> four{{word, word, word, word}};
    own_.set4(at_, four);
    if (more_) own_.set4(at_ + kHalf * 4, four);
    for (int sample = 0; sample < kChunk * (more_ ? 2 : 1); ++sample) count_ghost_cell();
  }

  int x_, end_y_, twos_, two_, end_, at_ = 0;  ///< end_y_: below the last row
  bool inside_, more_;
  SharedWords own_;
  PlaneView<const uint8_t> line_;  ///< the next row, where that lies in the picture
};

/// Writes what the border makes up beside the picture into the padding of the rows that a strip
/// reads, so that its walk knows no sides. Strips that read the same rows write the same bytes, in
/// no order: a kernel of its own for it (side_samples.hpp) takes some 4 us.
CONVFILT_DEVICE inline void write_strip_sides(const GroupPlace& place, const GroupGrid& grid, int x,
                                              int y, int rows) {
  const PlaneView<uint8_t>& picture = place.picture;
  const PlaneView<const uint8_t> from{picture.data, picture.width, picture.height, picture.stride};
  const int left = max(0, grid.left - x);
  const int right = min(grid.right, max(0, x + kGroupColumns + grid.last_tap - picture.width));
  if (left + right == 0) return;  // for the whole block
  CONVFILT_UNROLL(1)
  for (int k = threadIdx.x; k < rows * (left + right); k += kGroupThreads) {
    const int row = border_index(place.border, y + k / (left + right), picture.height);
    if (row < 0) continue;
    const int side = k % (left + right);
    const int at = side < left ? side - left : picture.width + side - left;
    const int column = border_sample(place.border, at, picture.width, place.channels);
    if (column < 0) count_ghost_cell();
    picture.row(row)[at] = column < 0 ? place.ghost : load(from, column, row);
  }
  __threadfence();
  __syncthreads();
}

}  // namespace convfilt::CONVFILT_BACKEND
