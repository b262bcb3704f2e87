/// A strip of tensor_groups.cu. The loop over the mask's rows is written out where its height is
/// known: a loop waits at its end for its products.
#pragma once

#include <type_traits>

#include "kernels/tensor/warpgroup/ends.hpp"
#include "kernels/tensor/warpgroup/products.hpp"
#include "kernels/tensor/warpgroup/rows.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Where a thread writes its outputs.
class GroupOutputs {
 public:
  /// Of the rows from..to of a strip at column x, the columns from own_x on: what the strip before
  /// has, too, is left to that.
  CONVFILT_DEVICE GroupOutputs(const PlaneView<uint8_t>& out, int x, int own_x, int from, int to,
                               int together)
      : x_(x + int(threadIdx.x) / 4 % 8 * kGroupSegment +
           int(threadIdx.x) / 32 * 16 * kGroupSegment + int(threadIdx.x) % 4 * 4),
        own_x_(own_x),
        rows_(to - from),
        whole_(x >= own_x && x + kGroupColumns <= out.width && (to - from) % together == 0),
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
  static constexpr int kHalf = 8 * kGroupSegment;  ///< columns from a thread's first segment on

  /// Where a row ends between them, its last bytes: at most three.
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

/// Walks down the rows from..to of a strip. kHeight: the mask's height; 0: any.
template <int kDigits, int kSteps, int kHeight>
CONVFILT_DEVICE inline void walk_down(const GroupPlace& place, const GroupMask& mask,
                                      const GroupGrid& grid, int strip, int part, int from,
                                      int to) {
  constexpr int kRows = group_rows(kDigits), kPitch = pitch_words(kSteps);
  const int height = kHeight > 0 ? kHeight : mask.height, dy = mask.dy + part * height;
  const int kept = kept_rows(kDigits, height), end_at = kept * kPitch * 4;
  const int x = grid.strip_x(strip);
  // Rows below the strip are there where the last outputs together, or two rows, reach them.
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

  GroupOutputs outputs(place.out, x, strip * kGroupColumns, from, to, kRows);
  constexpr bool kParts = takes_parts(kSteps, kHeight);
  const bool started = kParts && part > 0, ended = !kParts || part == mask.parts - 1;
  CarriedSums<kDigits> carried(place.carried, blockIdx.x * grid.rows);
  if (started) carried.fetch(0);
  // A loop for sums that begin as floats do, and one for the others.
  with_end<kDigits>(mask.end, [&](const auto& end) {
    constexpr bool kFloats = std::is_same_v<std::decay_t<decltype(end)>, FloatEnd>;
    int first = 0;  // row of the samples, in bytes
    CONVFILT_UNROLL(1)
    for (int y = from; y < to; y += kRows) {
      GroupSums<kDigits> sums;
      if constexpr (kFloats) start<kDigits>(end, sums);
      if (started) carried.start(sums);

      // Wait for the newest rows.
      finish_copies<kAhead - 1>();
      hand_over();
      __syncthreads();

      // Multiply each row with the bands of all outputs that it counts for.
      begin_products();
      const auto add_all = [&](auto half) {
        using Products = RowProducts<kDigits, kSteps, decltype(half)::value>;
        const int bands = group_bands(kDigits, height);
        add_rows<kHeight, kDigits>(Products(place, bands, first, end_at), height, sums,
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

      // Meanwhile, copy rows over those that all warps were through with before the barrier.
      for (int row = 0; row < kRows; row += 2) copies.copy_two(place);
      commit_copies();
      first += kRows * kPitch * 4;
      if (first >= end_at) first -= end_at;

      // End the sums.
      finish_products(sums);
      if (!ended) carried.keep(sums);
      carried.go_down();
      if (!ended) continue;
      GroupWords<kDigits> words;
      end_sums<kDigits>(end, sums, words);
      outputs.write(place.out, words);
    }
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
