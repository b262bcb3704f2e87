/// How the kernels of coarse_columns.hpp read a picture's rows.
#pragma once

#include "kernels/coarse/down.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Where rows' nodes are read: of a picture with its sides, at whose first sample cell 0 begins.
/// nodes.row(y)[n] = sum over t of down[t] * in(sample t of cells n, n + 1 and n + 2, top + y),
/// channels one below the other.
struct RowGrid {
  int step;
  int top;  ///< the picture's row that is the first of nodes
  Border border;
  float ghost;  ///< a node of ghosts
  int bytes;    ///< so many are loaded at once, samples one by one where it is 0
};

/// What a thread reads, which computes a node of some rows.
template <class T, int channels, int rows>
struct NodeColumns {
  PlaneView<const T> in[rows];  ///< one row each
  bool ghosts[rows];
  int left, pixels;

  CONVFILT_DEVICE NodeColumns(const PlaneView<const T>& picture, const RowGrid& grid, int node,
                              int y, int last)
      : left(node * grid.step), pixels(kCoarseOrder * grid.step) {
    for (int r = 0; r < rows; ++r) {
      const int row = border_index(grid.border, grid.top + min(y + r, last), picture.height);
      in[r] = row_of<T>(picture, max(row, 0));
      ghosts[r] = row < 0;
    }
  }

  /// f(t, r, fours) with pixels t.. of row r, as they lie in memory, loaded as such chunks.
  template <class Chunk, class F>
  CONVFILT_DEVICE void for_fours(F f) const {
    constexpr int kPixels = int(sizeof(Chunk) / sizeof(T)), kFours = kPixels / 4;
    constexpr int kWords = int(sizeof(Chunk)) / 4, kSize = int(sizeof(T));
    for (int t = 0; t < pixels; t += kPixels) {
      Chunk chunks[rows][channels];
      CONVFILT_UNROLL(rows)
      for (int r = 0; r < rows; ++r)
        for (int q = 0; q < channels; ++q)
          chunks[r][q] = load(row_of<Chunk>(in[r], 0), (left + t) / kPixels * channels + q, 0);
      CONVFILT_UNROLL(kFours)
      for (int four = 0; four < kFours; ++four) {
        CONVFILT_UNROLL(rows)
        for (int r = 0; r < rows; ++r) {
          FourWords<T> fours[channels];
          for (int w = 0; w < channels * kSize; ++w) {
            const int at = four * channels * kSize + w;
            fours[w / kSize].words[w % kSize] = chunks[r][at / kWords].words[at % kWords];
          }
          f(t + 4 * four, r, fours);
        }
      }
    }
  }

  /// The same where they lie at no multiples of a chunk's size.
  template <class F>
  CONVFILT_DEVICE void for_each(F f) const {
    CONVFILT_UNROLL(1)
    for (int t = 0; t < pixels; t += 4) {
      CONVFILT_UNROLL(rows)
      for (int r = 0; r < rows; ++r) {
        FourWords<T> fours[channels] = {};
        for (int k = 0; k < 4 * channels; ++k) {
          set_sample(fours[k / 4], k % 4, load(in[r], (left + t) * channels + k, 0));
        }
        f(t, r, fours);
      }
    }
  }

  template <class F>
  CONVFILT_DEVICE void for_all(int bytes, F f) const {
    if (bytes == 16) {
      for_fours<Words<16>>(f);
    } else if (sizeof(T) < 4 && bytes == 8) {
      if constexpr (sizeof(T) < 4) for_fours<Words<8>>(f);
    } else if (sizeof(T) == 1 && bytes == 4) {
      if constexpr (sizeof(T) == 1) for_fours<Words<4>>(f);
    } else {
      for_each(f);
    }
  }
};

}  // namespace convfilt::CONVFILT_BACKEND
