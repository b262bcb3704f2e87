/// The kernel of coarse.cu that makes columns of nodes where nodes lie far apart. Neighbouring
/// threads would then read different cache lines, so a warp brings strips of rows into shared
/// memory, and each of its lanes sums along one or two rows.
#pragma once

#include "kernels/backend/shared_words.hpp"
#include "kernels/coarse/node_columns.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

inline constexpr int kStripWarps = 4;
inline constexpr int kStripLanes = 32;

/// The number of pixels of a cell that are added at once. The step must be a multiple of it.
template <class T>
inline constexpr int kPixelsAtOnce = std::is_same_v<T, float> ? 4 : 8;

/// A warp's strip in shared memory. A row holds chunks of four words for each channel, and four
/// words more, so that the loads of eight lanes use all banks.
template <int channels>
struct Strip {
  static constexpr int kRowsALane = channels == 1 ? 2 : 1;  // rows of a lane share weights
  static constexpr int kRows = kStripLanes * kRowsALane;
  static constexpr int kChunks = channels == 1 ? 8 : 4;
  static constexpr int kPieces = kChunks * channels;  // each has four words
  static constexpr int kPitch = 4 * kPieces + 4;
  static constexpr int kWords = kRows * kPitch + kRows;  // the last kRows say where rows lie
};

/// A warp computes `count` nodes in each row of its strip, a multiple of four. Rows of `in` must
/// consist of whole pieces of 16 bytes.
template <class T, int channels>
__global__ void decimate_strips_kernel(
    PlaneView<const T> in, PlaneView<float> nodes, RowGrid grid, int count,
    typename LineSums<T, channels, Strip<channels>::kRowsALane, kOrder>::Line down) {
  using S = Strip<channels>;
  constexpr int kRows = S::kRowsALane, kSize = int(sizeof(T)), kInPiece = 16 / kSize;
  constexpr int kPixels = kPixelsAtOnce<T>;
  constexpr int kFours = kPixels / 4, kOfChunk = kInPiece / kPixels;
  const int lane = threadIdx.x;
  const int first = (blockIdx.x * kStripWarps + threadIdx.y) * count;
  const int last = min(first + count, nodes.width) - 1;
  if (first > last) return;  // a whole warp may return, since all barriers below are a warp's
  const int y = blockIdx.y * S::kRows, bottom = nodes.height / channels - 1;
  const SharedWords words = shared_words().from(threadIdx.y * S::kWords);
  const SharedWords sources = words.from(S::kRows * S::kPitch);

  bool ghosts[kRows];
  for (int r = 0; r < kRows; ++r) {
    const int row =
        border_index(grid.border, grid.top + min(y + lane + r * kStripLanes, bottom), in.height);
    ghosts[r] = row < 0;
    sources.set(lane + r * kStripLanes, max(row, 0));
  }

  LineSums<T, channels, kRows, kOrder> sums;
  float done[channels][kRows][4] = {};
  int node = first - (kOrder - 1), t = 0;  // sample t of the third cell of `node` comes next
  for (int x = first * grid.step * channels; node <= last; x += S::kPieces * kInPiece) {
    __syncwarp();
    CONVFILT_UNROLL(4)
    for (int at = lane; at < S::kRows * S::kPieces; at += kStripLanes) {
      const int row = at / S::kPieces, piece = at % S::kPieces;
      if (x + piece * kInPiece < in.width) {
        copy16(in, x + piece * kInPiece, sources.get<int>(row), words, row * S::kPitch + 4 * piece);
      }
    }
    commit_copies();
    finish_copies<0>();
    __syncwarp();
    CONVFILT_UNROLL(1)
    for (int chunk = 0; chunk < S::kChunks && node <= last; ++chunk) {
      std::uint32_t loaded[kRows][4 * channels];
      for (int r = 0; r < kRows; ++r) {
        for (int q = 0; q < channels; ++q) {
          const Four<std::uint32_t> four = words.get4<std::uint32_t>(
              (lane + r * kStripLanes) * S::kPitch + 4 * (chunk * channels + q));
          for (int k = 0; k < 4; ++k) loaded[r][4 * q + k] = four.samples[k];
        }
      }
      CONVFILT_UNROLL(kOfChunk)
      for (int part = 0; part < kOfChunk; ++part) {
        if (node > last) break;
        for (int four = 0; four < kFours; ++four) {
          for (int r = 0; r < kRows; ++r) {
            FourWords<T> fours[channels];
            for (int w = 0; w < channels * kSize; ++w)
              fours[w / kSize].words[w % kSize] =
                  loaded[r][(part * kFours + four) * channels * kSize + w];
            sums.add(down, grid.step, t + 4 * four, r, fours);
          }
        }
        t += kPixels;
        if (t % kDownChain == 0 || t == grid.step) sums.end_chain();
        if (t < grid.step) continue;

        // Store four nodes of a row at once.
        t = 0;
        if (node >= first) {
          for (int c = 0; c < channels; ++c) {
            for (int r = 0; r < kRows; ++r) {
              float(&four)[4] = done[c][r];
              for (int k = 0; k < 3; ++k) four[k] = four[k + 1];
              four[3] = ghosts[r] ? grid.ghost : sums.first(down, c, r);
              const int row = y + lane + r * kStripLanes;
              if (row > bottom) continue;
              float* const to = nodes.row(c * (bottom + 1) + row) + node / 4 * 4;
              if (node % 4 == 3) {
                store4(to, four);
              } else if (node == last) {
                for (int k = 0; k < 4; ++k)
                  if (k >= 3 - node % 4) to[k - (3 - node % 4)] = four[k];
              }
            }
          }
        }
        sums.next_node();
        ++node;
      }
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::coarse
