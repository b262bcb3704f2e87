/// How a block walks down a strip: it writes ghost cells beside the rows, copies rows to shared
/// memory ahead of the products, multiplies them with the mask's banded matrices, ends the sums,
/// and writes the outputs. Between two parts of a mask the sums wait in memory.
///
/// The walk over three colours is another one. It takes pixels apart between copy and product and
/// joins them before they are written, and its warps copy without barriers of the block.
#pragma once

#include <type_traits>

#include "kernels/contract/border.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/contract/sum_ends.hpp"
#include "kernels/plan/ghost_cells.hpp"
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
  CONVFILT_DEVICE RowProducts(const BlockData& place, int matrices, int first, int end)
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

/// Copies the rows of a strip to a ring in shared memory, two at a time, of which each half of the
/// block copies one. All counters are the same in all threads. `rows` must be even.
class RowCopies {
 public:
  CONVFILT_DEVICE RowCopies(const BlockData& place, int x, int y, int rows, int chunks, int pitch,
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

  CONVFILT_DEVICE void copy_two(const BlockData& place) {
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
  CONVFILT_DEVICE void fill(const BlockData& place) const {
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
CONVFILT_DEVICE inline void write_strip_sides(const BlockData& place, const Grid& grid, int x,
                                              int y, int rows) {
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
CONVFILT_DEVICE inline void walk_down(const BlockData& place, const MaskArgument& mask,
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
