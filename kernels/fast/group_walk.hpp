/// A strip of tensor_groups.cu.
#pragma once

#include "group_sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The row that stands in for one outside the picture; -1: there is none. Called, since it is rare.
CONVFILT_CALLED inline int group_edge_row(Border border, int y, int height) {
  return border_index(border, y, height);
}

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
        const int y = group_edge_row(place.border, y_, place.samples.height);
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
/// reads, so that its walk knows no sides. Where strips read the same rows they write the same.
CONVFILT_DEVICE inline void write_sides(const GroupPlace& place, const GroupGrid& grid, int x,
                                        int y, int rows) {
  const PlaneView<uint8_t>& picture = place.picture;
  const PlaneView<const uint8_t> from{picture.data, picture.width, picture.height, picture.stride};
  const int left = x < grid.left ? grid.left : 0;
  const int right = x + kGroupColumns + grid.last_tap > picture.width ? grid.right : 0;
  if (left + right == 0) return;
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

/// Walks down the rows from..to of a strip. kHeight: the mask's height; 0: any.
template <int kDigits, int kSteps, int kHeight>
CONVFILT_DEVICE inline void walk_down(const GroupPlace& place, const GroupMask& mask,
                                      const GroupGrid& grid, int strip, int from, int to) {
  constexpr int kRows = group_rows(kDigits), kPitch = pitch_words(kSteps), kUnrolled = 4;
  const int height = kHeight > 0 ? kHeight : mask.height;
  const int kept = kept_rows(kDigits, height), end_at = kept * kPitch * 4;
  const int x = grid.strip_x(strip), own_x = strip * kGroupColumns;
  // Rows below the strip are there where the last outputs together reach them.
  const int in_rows = ceil_div(to - from, kRows) * kRows + height - 1;
  write_sides(place, grid, x, from + mask.dy, in_rows);
  RowCopies copies(place, x, from + mask.dy, in_rows, grid.chunks, kPitch, kept);
  CONVFILT_UNROLL(1)
  for (int row = 0; row < height + kRows - 1; row += 2) copies.copy_two(place);
  commit_copies();
  CONVFILT_UNROLL(1)
  for (int ahead = 1; ahead < kAhead; ++ahead) {
    for (int row = 0; row < kRows; row += 2) copies.copy_two(place);
    commit_copies();
  }

  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int out_x = x + (16 * warp + g) * kGroupSegment + 4 * t;
  const Operand rows = operand(place.rows, 16, 8 * 16), bands = band_operand(place.bands);
  uint8_t* out = place.out.row(from) + out_x;
  // What the strip before has, too, is left to that.
  const int last_x = place.out.width - 4;
  const bool words[2] = {out_x >= own_x && out_x <= last_x,
                         out_x + 8 * kGroupSegment >= own_x && out_x + 8 * kGroupSegment <= last_x};
  int first = 0;  // row of the samples, in bytes
  CONVFILT_UNROLL(1)
  for (int y = from; y < to; y += kRows) {
    // Wait for the newest rows.
    finish_copies<kAhead - 1>();
    hand_over();
    __syncthreads();

    // Multiply each row with the bands of all outputs that it counts for.
    GroupSums<kDigits> sums;
    const bool floats = kDigits < 3 && mask.end.floats.usable;
    if (floats) start<kDigits>(mask.end.floats, sums);
    begin_products();
    int at = first, band = (group_bands(kDigits, height) - kRows) * group_band_bytes(kDigits);
    const auto add = [&](bool keep) {
      add_row<kSteps, kDigits>(sums, rows.from(at), kGroupStep, bands.from(band), height, keep);
      band -= group_band_bytes(kDigits);
      at += kPitch * 4;
      if (at == end_at) at = 0;
    };
    if constexpr (kHeight > 0) {
      CONVFILT_UNROLL(kHeight + kRows - 1)
      for (int row = 0; row < kHeight + kRows - 1; ++row) add(floats || row > 0);
    } else {
      add(floats);
      int left = height + kRows - 2;
      CONVFILT_UNROLL(1)
      for (; left >= kUnrolled; left -= kUnrolled) {
        CONVFILT_UNROLL(kUnrolled)
        for (int k = 0; k < kUnrolled; ++k) add(true);
      }
      CONVFILT_UNROLL(1)
      for (; left > 0; --left) add(true);
    }
    commit_products();

    // Meanwhile, copy rows over those that all warps were through with before the barrier.
    for (int row = 0; row < kRows; row += 2) copies.copy_two(place);
    commit_copies();
    first += kRows * kPitch * 4;
    if (first >= end_at) first -= end_at;

    // End the sums.
    finish_products(sums);
    with_end<kDigits>(mask.end, [&](const auto& end) {
      CONVFILT_UNROLL(kRows)
      for (int row = 0; row < kRows; ++row) {
        if (y + row < to) {
          CONVFILT_UNROLL(2)
          for (int half = 0; half < 2; ++half) {
            const uint32_t word = four_of<kDigits>(end, row, half, sums);
            uint8_t* const at = out + half * 8 * kGroupSegment;
            if (words[half]) {
              *reinterpret_cast<uint32_t*>(at) = word;
            } else {
              // The last bytes of a row that ends between: at most three.
              const int at_x = out_x + half * 8 * kGroupSegment;
              for (int k = 0; at_x > last_x && at_x + k < place.out.width; ++k) {
                at[k] = uint8_t(word >> (8 * k));
              }
            }
          }
        }
        out += place.out.stride;
      }
    });
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
