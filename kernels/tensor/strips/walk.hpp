/// The way of a warp of tensor_strips.cu down its strip: copies rows ahead, reads, computes.
#pragma once

#include "kernels/tensor/strips/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kPairsAhead = 3;  // of rows being copied

/// What a lane of a strip begins with.
template <int kDigits, int kSteps, int kHeight>
struct Lane {
  int chunk_x, first_y;  ///< where its copies begin, and the strip's first row in the input
  int word;              ///< the lane's first in a copied row
  int rows;              ///< outputs
  Edge<kSteps> edge;
  std::uint8_t* out;  ///< row of the first output
  int out_x;
  Columns columns;
  std::uint32_t bands[kHeight][kDigits][kSteps];
};

/// Walks down a strip. kPlain: all that it reads and writes lies in the pictures.
template <bool kPlain, int kDigits, int kSteps, int kHeight, class Tile>
CONVFILT_DEVICE inline void walk_strip(const PlaneView<const std::uint8_t>& in,
                                       std::ptrdiff_t out_stride, std::uint8_t ghost, Border border,
                                       const StripMask& mask,
                                       const Lane<kDigits, kSteps, kHeight>& lane, Tile& in_tile) {
  constexpr int kPairs = (kHeight + 1) / 2;  // in registers, as many as two outputs need
  constexpr int kSlots = kPairsAhead + 1;    // in shared memory
  constexpr int kAhead = kPairs - 1 + kPairsAhead;
  const int in_pairs = ceil_div(lane.rows, 2) + kPairs - 1;
  const auto line_of = [&](int row) -> Line {
    int y = lane.first_y + row;
    if (y < 0 || y >= in.height) y = edge_row(border, y, in.height);
    return y < 0 ? Line{} : in.rows(y, 1);
  };
  // What the end wants to have been added costs no addition so.
  std::int32_t start[kDigits][4] = {};
  for (int k = 0; k < 4; ++k) {
    if constexpr (kDigits < 3) {
      start[kDigits - 1][k] = kept(mask.float_end.start, k);
    } else {
      start[0][k] = kept(mask.shift_end.start, k);
    }
  }
  Line next = kPlain ? in.rows(lane.first_y, 1) : Line{};
  const int copy_x = lane.chunk_x + int(threadIdx.x) * kChunk;
  const bool copies = int(threadIdx.x) < chunks_of(kSteps) &&
                      (kPlain || (copy_x >= 0 && copy_x + kChunk <= in.width));
  std::uint8_t* out = lane.out;
  Words<kSteps> ring[kPairs][2];
  int slot = 0, copy_slot = 0;
  CONVFILT_UNROLL(1)
  for (int from = -ceil_div(kAhead, kPairs) * kPairs; 2 * from < lane.rows; from += kPairs) {
    CONVFILT_UNROLL(kPairs)
    for (int k = 0; k < kPairs; ++k) {
      // Read a pair of rows, whose copies have come.
      const int pair = from + k, newest = pair + kPairs - 1, ahead = pair + kAhead;
      finish_copies<kPairsAhead - 1>();
      __syncthreads();
      if (newest >= 0 && newest < in_pairs) {
        CONVFILT_UNROLL(2)
        for (int n = 0; n < 2; ++n) {
          auto& words = ring[(k + kPairs - 1) % kPairs][n];
          const Line line = kPlain ? Line{} : line_of(2 * newest + n);
          CONVFILT_UNROLL(kProducts * 2 * kSteps)
          for (int w = 0; w < kProducts * 2 * kSteps; ++w) {
            const int product = w / (2 * kSteps), i = w % (2 * kSteps);
            if (!kPlain && !line.data) {
              words[product][i] = ghost * 0x01010101u;
              for (int byte = 0; byte < 4; ++byte) count_ghost_cell();
            } else if (kPlain || !is_over(lane.edge, product, i)) {
              words[product][i] = in_tile[2 * slot + n][lane.word + word_at(product, i) / 4];
            }
          }
          if (!kPlain && lane.edge.any && line.data) load_edge(line, ghost, lane.edge, words);
        }
        slot = slot + 1 == kSlots ? 0 : slot + 1;
      }
      // Copy a pair ahead, over the one that all lanes read before this barrier.
      if (ahead >= 0 && ahead < in_pairs) {
        CONVFILT_UNROLL(2)
        for (int n = 0; n < 2; ++n) {
          if (!kPlain) next = line_of(2 * ahead + n);
          if (copies && (kPlain || next.data)) {
            copy16(next, copy_x, 0, in_tile, 2 * copy_slot + n, int(threadIdx.x) * 4);
          }
          if (kPlain) next.data += in.stride;
        }
        copy_slot = copy_slot + 1 == kSlots ? 0 : copy_slot + 1;
      }
      commit_copies();
      // Compute two rows.
      if (pair < 0) continue;
      if (2 * pair >= lane.rows) break;
      StripSums<kDigits> sums[2];
      CONVFILT_UNROLL(2)
      for (int n = 0; n < 2; ++n) {
        multiply_rows<kDigits - 1>(ring, 2 * k + n, lane.bands, start, sums[n]);
        if constexpr (kDigits > 1) multiply_rows<0>(ring, 2 * k + n, lane.bands, start, sums[n]);
        if constexpr (kDigits > 2) multiply_rows<1>(ring, 2 * k + n, lane.bands, start, sums[n]);
      }
      CONVFILT_UNROLL(2)
      for (int n = 0; n < 2; ++n) {
        if (!kPlain && 2 * pair + n >= lane.rows) break;
        end_row<kPlain, kDigits>(out, mask, lane.out_x, lane.columns, sums[n]);
        out += out_stride;
      }
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
