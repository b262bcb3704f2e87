/// The kernels of coarse.cu that bring samples onto a grid along the rows, which makes columns of
/// nodes. In the first, neighbouring threads read the same cache lines. Where nodes lie far apart,
/// they would read different ones. There a warp brings strips of rows into shared memory, and each
/// of its lanes sums along one or two rows.
#pragma once

#include "kernels/backend/shared_words.hpp"
#include "kernels/coarse/mask.hpp"
#include "kernels/coarse/samples.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

using namespace convfilt::coarse;

inline constexpr int kNodeColumns = 32, kNodeRows = 4;  // threads of a block

/// How nodes are summed from a picture whose rows include the ghost cells at its sides. Cell 0
/// begins at a row's first sample. nodes.row(y)[n] = sum over t of down[t] * in(sample t of cells
/// n, n + 1 and n + 2, top + y). The planes of the channels' nodes lie one below the other.
struct RowGrid {
  int step;
  int top;  ///< the picture's row that the first row of nodes is summed from
  Border border;
  float ghost;  ///< the value of a node in a row of ghost cells
  int bytes;    ///< bytes that are loaded at once; 0 where samples are loaded one by one
};

/// The samples of a thread, which computes one node in each of some rows.
template <class T, int channels, int rows>
struct NodeColumns {
  PlaneView<const T> in[rows];  ///< one row each
  bool ghosts[rows];
  int left, pixels;

  CONVFILT_DEVICE NodeColumns(const PlaneView<const T>& picture, const RowGrid& grid, int node,
                              int y, int last)
      : left(node * grid.step), pixels(kOrder * grid.step) {
    for (int r = 0; r < rows; ++r) {
      const int row = border_index(grid.border, grid.top + min(y + r, last), picture.height);
      in[r] = row_of<T>(picture, max(row, 0));
      ghosts[r] = row < 0;
    }
  }

  /// Calls f(t, r, fours) with the four pixels from t on of row r, as they lie in memory. They are
  /// loaded in chunks.
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

  /// Does the same where rows do not begin at multiples of a chunk's size.
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

  /// Does the same in chunks of that many bytes, or sample by sample.
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

/// The sums of `nodes` successive nodes in a thread's rows of integer samples.
template <class T, int channels, int rows, int nodes>
struct LineSums {
  using Line = ByteLine;
  ByteSums of[nodes][channels][rows];

  /// Adds the four pixels from t on of row r, which lie as in memory. They meet the weights from t
  /// on for the last node, and in each node before it weights that lie a cell further on.
  CONVFILT_DEVICE void add(const Line& down, int step, int t, int r,
                           const FourWords<T> (&fours)[channels]) {
    FourWords<T> of_channel[channels];
    if constexpr (channels == 3) {
      split(fours, of_channel);
    } else {
      of_channel[0] = fours[0];
    }
    for (int n = 0; n < nodes; ++n) {
      const ByteWeights weights = down.weights[((nodes - 1 - n) * step + t) / 4];
      for (int c = 0; c < channels; ++c) of[n][c][r].template add<T>(of_channel[c], weights);
    }
  }
  CONVFILT_DEVICE void end_chain() {}

  /// The first node's sum.
  CONVFILT_DEVICE float first(const Line& down, int c, int r) const {
    return add_product(of[0][c][r].value(), down.unit, -down.of_centre);
  }
  CONVFILT_DEVICE void next_node() {
    for (int c = 0; c < channels; ++c) {
      for (int r = 0; r < rows; ++r) {
        for (int n = 0; n < nodes - 1; ++n) of[n][c][r] = of[n + 1][c][r];
        of[nodes - 1][c][r] = {};
      }
    }
  }
};

/// The same for floats.
template <int channels, int rows, int nodes>
struct LineSums<float, channels, rows, nodes> {
  using Line = const Four<float>*;
  float sums[nodes][channels][rows] = {}, chains[nodes][channels][rows] = {};

  CONVFILT_DEVICE void add(Line down, int step, int t, int r,
                           const FourWords<float> (&fours)[channels]) {
    for (int n = 0; n < nodes; ++n) {
      const Four<float> weights = load_weights(down + ((nodes - 1 - n) * step + t) / 4);
      for (int at = 0; at < 4 * channels; ++at) {
        float& chain = chains[n][at % channels][r];
        const float sample = std::bit_cast<float>(fours[at / 4].words[at % 4]);
        chain = add_product(weights.samples[at / channels], sample, chain);
      }
    }
  }
  CONVFILT_DEVICE void end_chain() {
    for (int n = 0; n < nodes; ++n) {
      for (int c = 0; c < channels; ++c) {
        for (int r = 0; r < rows; ++r) {
          sums[n][c][r] += chains[n][c][r];
          chains[n][c][r] = 0;
        }
      }
    }
  }
  CONVFILT_DEVICE float first(Line, int c, int r) const { return sums[0][c][r]; }
  CONVFILT_DEVICE void next_node() {
    for (int c = 0; c < channels; ++c) {
      for (int r = 0; r < rows; ++r) {
        for (int n = 0; n < nodes - 1; ++n) sums[n][c][r] = sums[n + 1][c][r];
        sums[nodes - 1][c][r] = 0;
      }
    }
  }
};

/// Stores a node of one channel, unless its row lies beyond the last.
CONVFILT_DEVICE inline void store_node(const PlaneView<float>& nodes, int y, int channel,
                                       int channels, int node, float sum) {
  const int height = nodes.height / channels;
  if (y < height) nodes.row(channel * height + y)[node] = sum;
}

/// A thread computes one node in each of `rows` rows.
template <class T, int channels, int rows>
__global__ void decimate_columns_kernel(PlaneView<const T> in, PlaneView<float> nodes, RowGrid grid,
                                        typename LineSums<T, channels, rows, 1>::Line down) {
  const int node = blockIdx.x * kNodeColumns + threadIdx.x;
  const int y = rows * int(blockIdx.y * kNodeRows + threadIdx.y);
  const int last = nodes.height / channels - 1;
  if (node >= nodes.width || y > last) return;
  const NodeColumns<T, channels, rows> columns(in, grid, node, y, last);

  LineSums<T, channels, rows, 1> sums;
  int in_cell = 0;
  columns.for_all(grid.bytes, [&](int t, int r, const FourWords<T>(&fours)[channels]) {
    sums.add(down, grid.step, t, r, fours);
    if (r < rows - 1) return;
    in_cell += 4;
    if (in_cell % kDownChain != 0 && in_cell != grid.step) return;
    if (in_cell == grid.step) in_cell = 0;
    sums.end_chain();
  });
  for (int c = 0; c < channels; ++c) {
    for (int r = 0; r < rows; ++r) {
      const float sum = sums.first(down, c, r);
      store_node(nodes, y + r, c, channels, node, columns.ghosts[r] ? grid.ghost : sum);
    }
  }
}

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
