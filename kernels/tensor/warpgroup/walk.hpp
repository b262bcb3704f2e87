/// How a block walks down a strip: it writes ghost cells beside the rows, copies rows to shared
/// memory ahead of the products, and writes the outputs.
///
/// The walk over three colours is another one. It takes pixels apart between copy and product and
/// joins them before they are written, and its warps copy without barriers of the block.
#pragma once

#include <type_traits>

#include "kernels/contract/border.hpp"
#include "kernels/plan/ghost_cells.hpp"
#include "kernels/tensor/warpgroup/sums.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup {

/// Copies the rows of a strip to a ring in shared memory, two at a time, of which each half of the
/// block copies one. All counters are the same in all threads. `rows` must be even.
class RowCopies {
 public:
  CONVFILT_DEVICE RowCopies(const Place& place, int x, int y, int rows, int chunks, int pitch,
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

  CONVFILT_DEVICE void copy_two(const Place& place) {
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
  static constexpr int kHalf = kThreads / 2;
  static_assert(kHalf * kChunk == kColumns, "half a block copies a row's segments at once");

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
  CONVFILT_DEVICE void fill(const Place& place) const {
    set_ghosts(own_, at_, place.ghost);
    if (more_) set_ghosts(own_, at_ + kHalf * 4, place.ghost);
  }

  int x_, end_y_, twos_, two_, end_, at_ = 0;  ///< end_y_: the row below the last
  bool inside_, more_;
  SharedWords own_;
  PlaneView<const uint8_t> line_;  ///< the next row, if it lies in the picture
};

/// Writes the ghost cells beside the picture into the padding of the rows that a strip reads, so
/// that the walk need not know of sides. Strips that share rows write the same bytes there, so
/// their order does not matter. A separate kernel (side_samples.hpp) would take some 4
/// microseconds.
CONVFILT_DEVICE inline void write_strip_sides(const Place& place, const Grid& grid, int x, int y,
                                              int rows) {
  const PlaneView<uint8_t>& picture = place.picture;
  const PlaneView<const uint8_t> from{picture.data, picture.width, picture.height, picture.stride};
  const int left = max(0, grid.left - x);
  const int right = min(grid.right, max(0, x + kColumns + grid.last_tap - picture.width));
  if (left + right == 0) return;  // all threads of the block return
  CONVFILT_UNROLL(1)
  for (int k = threadIdx.x; k < rows * (left + right); k += kThreads) {
    const int row = border_index(place.border, y + k / (left + right), picture.height);
    if (row < 0) continue;
    const int side = k % (left + right);
    const int at = side < left ? side - left : picture.width + side - left;
    const int column = border_sample(place.border, at, picture.width, place.channels);
    picture.row(row)[at] = load_or_ghost(from, column, row, place.ghost);
  }
  __threadfence();
  __syncthreads();
}

/// A thread's outputs, and where it writes them.
class Outputs {
 public:
  /// Writes rows from..to-1 of the strip at column x. Columns before own_x are left to the strip
  /// before.
  CONVFILT_DEVICE Outputs(const PlaneView<uint8_t>& out, int x, int own_x, int from, int to,
                          int together)
      : x_(x + int(threadIdx.x) / 4 % 8 * kSegment + int(threadIdx.x) / 32 * 16 * kSegment +
           int(threadIdx.x) % 4 * 4),
        own_x_(own_x),
        rows_(to - from),
        whole_(x >= own_x && x + kColumns <= out.width && (to - from) % together == 0),
        at_(out.row(from) + x_) {}

  template <int kRows>
  CONVFILT_DEVICE void write(const PlaneView<uint8_t>& out, const uint32_t (&words)[kRows][2]) {
    CONVFILT_UNROLL(kRows)
    for (int row = 0; row < kRows; ++row) {
      CONVFILT_UNROLL(2)
      for (int half = 0; half < 2; ++half) {
        uint8_t* const at = at_ + row * out.stride + half * kHalf;
        if (whole_) {
          *reinterpret_cast<uint32_t*>(at) = words[row][half];
        } else if (row < rows_) {
          write_some(out, at, x_ + half * kHalf, words[row][half]);
        }
      }
    }
    rows_ -= kRows;
    at_ += kRows * out.stride;
  }

 private:
  static constexpr int kHalf = 8 * kSegment;  ///< columns between a thread's segments

  /// Writes a word of a strip that overlaps another strip or the side. Where the row ends within
  /// the word, only the bytes before its end are written.
  CONVFILT_DEVICE void write_some(const PlaneView<uint8_t>& out, uint8_t* at, int x,
                                  uint32_t word) const {
    if (x < own_x_) return;
    if (x + 4 <= out.width) {
      *reinterpret_cast<uint32_t*>(at) = word;
      return;
    }
    CONVFILT_UNROLL(1)
    for (int k = 0; x + k < out.width; ++k) at[k] = uint8_t(word >> (8 * k));
  }

  int x_, own_x_, rows_;
  bool whole_;  ///< the same for all threads
  uint8_t* at_;
};

/// Walks down rows from..to-1 of a strip. kHeight is the mask's height, or 0 for any height.
template <int kDigits, int kSteps, int kHeight>
CONVFILT_DEVICE inline void walk_down(const Place& place, const MaskArgument& mask,
                                      const Grid& grid, int strip, int part, int from, int to) {
  constexpr int kRows = rows_together(kDigits), kPitch = pitch_words(kSteps);
  const int height = kHeight > 0 ? kHeight : mask.height, dy = mask.dy + part * height;
  const int kept = kept_rows(kDigits, height), end_at = kept * kPitch * 4;
  const int x = grid.strip_x(strip);
  // The last product may reach below the strip, and rows come in twos. Rows are copied for both.
  const int in_rows = ceil_div(ceil_div(to - from, kRows) * kRows + height - 1, 2) * 2;
  write_strip_sides(place, grid, x, from + dy, in_rows);
  RowCopies copies(place, x, from + dy, in_rows, grid.chunks, kPitch, kept);
  CONVFILT_UNROLL(1)
  for (int row = 0; row < height + kRows - 1; row += 2) copies.copy_two(place);
  commit_copies();
  CONVFILT_UNROLL(1)
  for (int ahead = 1; ahead < kAhead; ++ahead) {
    for (int row = 0; row < kRows; row += 2) copies.copy_two(place);
    commit_copies();
  }

  Outputs outputs(place.out, x, strip * kColumns, from, to, kRows);
  constexpr bool kParts = takes_parts(kSteps, kHeight);
  const bool started = kParts && part > 0, ended = !kParts || part == mask.parts - 1;
  CarriedSums<kDigits> carried(place.carried, blockIdx.x * grid.rows);
  if (started) carried.fetch(0);
  // Sums that end in floats have a loop of their own, and all others share one.
  with_end<kDigits>(mask.end, [&](const auto& end) {
    constexpr bool kFloats = std::is_same_v<std::decay_t<decltype(end)>, FloatEnd>;
    int first = 0;  // where the first row lies, in bytes
    CONVFILT_UNROLL(1)
    for (int y = from; y < to; y += kRows) {
      Sums<kDigits> sums;
      if constexpr (kFloats) start<kDigits>(end, sums);
      if (started) carried.start(sums);

      // Wait for the newest rows that the products need.
      finish_copies<kAhead - 1>();
      hand_over();
      __syncthreads();

      // Multiply each row with the banded matrices of all outputs that need it.
      begin_products();
      const auto add_all = [&](auto half) {
        using Products = RowProducts<kDigits, kSteps, decltype(half)::value>;
        const int matrices = matrix_count(kDigits, height);
        add_rows<kHeight, kDigits>(Products(place, matrices, first, end_at), height, sums,
                                   kFloats || started);
      };
      if constexpr (kParts) {
        if (mask.half) {
          add_all(std::true_type());
        } else {
          add_all(std::false_type());
        }
      } else {
        add_all(std::false_type());
      }
      commit_products();
      if (started && y + kRows < to) carried.fetch(kRows);

      // Meanwhile, copy rows over those that all warps had multiplied before the barrier.
      for (int row = 0; row < kRows; row += 2) copies.copy_two(place);
      commit_copies();
      first += kRows * kPitch * 4;
      if (first >= end_at) first -= end_at;

      // End the sums.
      finish_products(sums);
      if (!ended) carried.keep(sums);
      carried.go_down();
      if (!ended) continue;
      Words<kDigits> words;
      end_sums<kDigits>(end, sums, words);
      outputs.write(place.out, words);
    }
  });
}

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup
