/// The inner loops of `coarse` on the CPU. They are compiled for every vector width, and one is
/// chosen at run time. All may read and write whole blocks beyond the ends of rows.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/contract/finish.hpp"

namespace convfilt::coarse {

/// Turned rows are kLineStep rows side by side, so that a vector holds one sample of each.
inline constexpr int kLineStep = 32;

/// The samples of turned rows: kLineStep of them for each place along the rows.
template <class T>
using Lines = hwy::AlignedFreeUniquePtr<T[]>;

inline constexpr int kNodesAtOnce = 4;

/// Where the samples of a row lie between nodes. Sample x has weights for the node at places[x] and
/// for the two nodes behind it, and `step` pixels lie between nodes.
struct Between {
  const std::int32_t* places;
  const float* weights[3];
  int channels, step;
};

/// The inner loops for samples of T.
template <class T>
struct RowLoops {
  /// Turns kLineStep rows. Row r becomes line r.
  void (*lines_from_rows)(const T* const* rows, int length, T* lines);
  /// Turns lines back into rows that lie `stride` samples apart.
  void (*rows_from_lines)(const float* lines, int length, std::ptrdiff_t stride, float* samples);

  /// Adds the rows of one cell, less the centre, to the rows of the three nodes that reach it. The
  /// cell is the last one of the first node and the first one of the last node. A null node is left
  /// out. `down` has 3 * step weights.
  void (*add_cell)(const std::vector<float>& down, const T* const* rows, float centre, int step,
                   int n, float* const* nodes);

  /// out[x] = sum over i of line[i] * in[x + i * step].
  void (*sum_along)(const std::vector<float>& line, const float* in, int step, int n, float* out);

  /// out[x] = sum over i of line[i] * rows[i][x].
  void (*sum_across)(const std::vector<float>& line, const float* const* rows, int n, float* out);

  /// Brings turned rows of interleaved pixels, less the centre, onto a grid. Node n of channel c
  /// becomes row n * channels + c of `out`, which has kLineStep floats and lies `stride` floats
  /// from the next. Up to kNodesAtOnce - 1 nodes beyond `nodes` are written, and their samples are
  /// read.
  void (*nodes_of_lines)(const std::vector<float>& down, const T* lines, float centre, int channels,
                         int step, int nodes, float* out, std::ptrdiff_t stride);

  /// row[x] -= sum over k of weights[k][x] * nodes[places[x] + k * channels].
  void (*subtract_nodes)(const Between& between, const float* nodes, int n, float* row);

  /// out[x - begin] = sum over k of back[k] * rows[k][x] + weights[k][x] * nodes[places[x] + k *
  /// channels], ended as finish.hpp says, for x in [begin, end).
  void (*interpolate_row)(const float (&back)[3], const float* const* rows, const Between& between,
                          const float* nodes, const FloatFinish& finish, int begin, int end,
                          T* out);
};

/// The loops for this machine.
template <class T>
RowLoops<T> row_loops();

}  // namespace convfilt::coarse
