/// How rows come to tensor_groups.cu's shared memory, with what the border makes up beside them.
#pragma once

#include "border.hpp"
#include "edge_row.hpp"
#include "group_sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Copies the rows of a strip to shared memory, one after the other and round, two at a time:
/// each half of the block one.
class RowCopies {
 public:
  CONVFILT_DEVICE RowCopies(const GroupPlace& place, int x, int y, int rows, int chunks, int pitch,
                            int kept)
      : chunk_(int(threadIdx.x) % kHalf),
        x_(x + chunk_ * kChunk),
        y_(y + int(threadIdx.x) / kHalf),
        left_(rows - int(threadIdx.x) / kHalf),
        at_(int(threadIdx.x) / kHalf * pitch),
        two_(2 * pitch),
        end_(kept * pitch),
        more_(chunk_ < chunks - 1),
        line_(place.samples.rows(y_, 1)) {}

  CONVFILT_DEVICE void copy_two(const GroupPlace& place) {
    if (left_ > 0) {
      if (unsigned(y_) < unsigned(place.samples.height)) {
        copy(line_, place);
      } else {
        const int y = edge_row(place.border, y_, place.samples.height);
        if (y >= 0) {
          copy(place.samples.rows(y, 1), place);
        } else {
          fill(place);
        }
      }
    }
    line_.data += 2 * place.samples.stride;
    y_ += 2;
    left_ -= 2;
    at_ += two_;
    if (at_ >= end_) at_ -= end_;
  }

 private:
  static constexpr int kHalf = kGroupThreads / 2;
  static_assert(kHalf * kChunk == kGroupColumns, "half a block copies a row's segments at once");

  CONVFILT_DEVICE void copy(const PlaneView<const uint8_t>& line, const GroupPlace& place) const {
    copy16(line, x_, 0, place.rows, at_ + chunk_ * 4);
    if (more_) copy16(line, x_ + kHalf * kChunk, 0, place.rows, at_ + (kHalf + chunk_) * 4);
  }
  CONVFILT_DEVICE void fill(const GroupPlace& place) const {
    const uint32_t word = place.ghost * 0x01010101u;
    const Four<uint32_t> four{{word, word, word, word}};
    place.rows.set4(at_ + chunk_ * 4, four);
    if (more_) place.rows.set4(at_ + (kHalf + chunk_) * 4, four);
    for (int sample = 0; sample < kChunk * (more_ ? 2 : 1); ++sample) count_ghost_cell();
  }

  int chunk_, x_, y_, left_, at_, two_, end_;
  bool more_;
  PlaneView<const uint8_t> line_;  ///< row y_, where that lies in the picture
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
