/// What a lane of tensor_strips.cu reads of a row: its words, and what becomes of those that reach
/// over the picture's sides.
#pragma once

#include "kernels/backend/tensor_core.hpp"
#include "kernels/plan/edge_row.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// As edge_row(), of a column of interleaved channels.
CONVFILT_CALLED inline int edge_column(Border border, int x, int width, int channels) {
  return border_sample(border, x, width, channels);
}

/// A lane's words of one row of segments.
template <int kSteps>
using Words = std::uint32_t[kProducts][2 * kSteps];

/// Where a lane's word lies in its row, in samples from the lane's first.
CONVFILT_HD constexpr int word_at(int product, int k) {
  return product * 16 * kSegment + k % 2 * 8 * kSegment + k / 2 * kStepBytes;
}

/// The words of a lane that may reach over the picture's side: of the first strip those of the
/// first half of segments, of the last strip those of the last half.
template <int kSteps>
struct Edge {
  bool any = false;             ///< some lane of the warp has such words
  bool first = false;           ///< of the first half
  bool over[kSteps] = {};       ///< whether this lane's word does
  int columns[kSteps][4] = {};  ///< that its samples come from; -1: the border's value
};

/// A word lies in the picture where its chunk does.
template <int kSteps>
CONVFILT_DEVICE inline Edge<kSteps> find_edge(const PlaneView<const std::uint8_t>& in,
                                              Border border, int channels, int chunk_x, int x) {
  Edge<kSteps> edge;
  edge.any = chunk_x < 0 || chunk_x + chunks_of(kSteps) * kChunk > in.width;
  edge.first = chunk_x < 0;
  if (!edge.any) return edge;
  CONVFILT_UNROLL(kSteps)
  for (int step = 0; step < kSteps; ++step) {
    const int at = x + (edge.first ? word_at(0, 2 * step) : word_at(1, 2 * step + 1));
    edge.over[step] = at < 0 || (at & -kChunk) + kChunk > in.width;
    CONVFILT_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte) {
      edge.columns[step][byte] = edge_column(border, at + byte, in.width, channels);
    }
  }
  return edge;
}

/// Whether a word is to be left to load_edge().
template <int kSteps>
CONVFILT_DEVICE inline bool is_over(const Edge<kSteps>& edge, int product, int k) {
  return product == k % 2 && edge.first == (product == 0) && edge.over[k / 2];
}

/// One row of a picture, as a plane of its own.
using Line = PlaneView<const std::uint8_t>;

/// Reads the words of a row that reach over the picture's side, sample by sample: from the cache
/// mostly, since the chunks beside them were copied before.
template <int kSteps>
CONVFILT_DEVICE inline void load_edge(const Line& line, std::uint8_t ghost,
                                      const Edge<kSteps>& edge, Words<kSteps>& words) {
  CONVFILT_UNROLL(kSteps)
  for (int step = 0; step < kSteps; ++step) {
    if (!edge.over[step]) continue;
    std::uint32_t word = 0;
    CONVFILT_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte) {
      const int column = edge.columns[step][byte];
      if (column < 0) count_ghost_cell();
      word |= std::uint32_t(column < 0 ? ghost : load(line, column, 0)) << (8 * byte);
    }
    if (edge.first) {
      words[0][2 * step] = word;
    } else {
      words[1][2 * step + 1] = word;
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
