/// A strip of tensor_groups.cu. The loop over the mask's rows is written out where its height is
/// known: a loop waits at its end for its products.
#pragma once

#include <type_traits>

#include "group_products.hpp"
#include "group_rows.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Walks down the rows from..to of a strip. kHeight: the mask's height; 0: any.
template <int kDigits, int kSteps, int kHeight>
CONVFILT_DEVICE inline void walk_down(const GroupPlace& place, const GroupMask& mask,
                                      const GroupGrid& grid, int strip, int part, int from,
                                      int to) {
  constexpr int kRows = group_rows(kDigits), kPitch = pitch_words(kSteps);
  const int height = kHeight > 0 ? kHeight : mask.height, dy = mask.dy + part * height;
  const int kept = kept_rows(kDigits, height), end_at = kept * kPitch * 4;
  const int x = grid.strip_x(strip), own_x = strip * kGroupColumns;
  // Rows below the strip are there where the last outputs together reach them.
  const int in_rows = ceil_div(to - from, kRows) * kRows + height - 1;
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

  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int out_x = x + (16 * warp + g) * kGroupSegment + 4 * t;
  uint8_t* out = place.out.row(from) + out_x;
  // What the strip before has, too, is left to that.
  const int last_x = place.out.width - 4;
  const bool words[2] = {out_x >= own_x && out_x <= last_x,
                         out_x + 8 * kGroupSegment >= own_x && out_x + 8 * kGroupSegment <= last_x};
  constexpr bool kParts = takes_parts(kSteps, kHeight);
  const bool started = kParts && part > 0, ended = !kParts || part == mask.parts - 1;
  CarriedSums<kDigits> carried(place.carried, blockIdx.x * grid.rows);
  if (started) carried.fetch(0);
  int first = 0;  // row of the samples, in bytes
  CONVFILT_UNROLL(1)
  for (int y = from; y < to; y += kRows) {
    GroupSums<kDigits> sums;
    const bool floats = kDigits < 3 && mask.end.floats.usable, keep = floats || started;
    if (floats) start<kDigits>(mask.end.floats, sums);
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
      add_rows<kHeight, kDigits>(Products(place, bands, first, end_at), height, sums, keep);
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
