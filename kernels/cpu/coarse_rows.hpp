/// The inner loops of `coarse` on the CPU. They are compiled for every vector width, and one is
/// chosen at run time. All may read and write whole blocks beyond the ends of rows.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/contract/finish.hpp"

namespace convfilt::coarse {

/// Turned rows are kLineStep rows side by side, so that a vector holds one sample of each. They
/// come in two parts of kLines rows, and kLines floats fill a cache line.
inline constexpr int kLines = 16;
inline constexpr int kLinePart = kLines, kLineStep = 2 * kLines;

/// The samples of turned rows: kLineStep floats for each place along the rows.
using Lines = hwy::AlignedFreeUniquePtr<float[]>;

inline constexpr int kNodesAtOnce = 4;

/// Where the samples of a row lie between nodes. Sample x has weights for the node at places[x] and
/// for the two nodes behind it.
struct Between {
  const std::int32_t* places;
  const float* weights[3];
  int channels;
};

/// The inner loops for samples of T.
template <class T>
struct RowLoops {
  /// Converts samples to floats, less the centre of their range.
  void (*centre_row)(const T* samples, int n, float centre, float* out);

  /// Ends sums as finish.hpp says.
  void (*finish_row)(const FloatFinish& finish, const float* sums, int n, T* out);

  /// Turns rows that lie `stride` samples apart. Row r becomes line r of a part. Lines beyond the
  /// last row become 0.
  void (*lines_from_rows)(const float* samples, std::ptrdiff_t stride, int rows, int length,
                          float* lines);
  /// Turns lines back into rows.
  void (*rows_from_lines)(const float* lines, int length, int rows, std::ptrdiff_t stride,
                          float* samples);

  /// Adds the rows of one cell to the rows of the three nodes that reach it. The cell is the last
  /// one of the first node and the first one of the last node. A null node is left out. `down` has
  /// 3 * step weights.
  void (*add_cell)(const std::vector<float>& down, const float* const* rows, int step, int n,
                   float* const* nodes);

  /// out[x] = sum over i of line[i] * in[x + i * step].
  void (*sum_along)(const std::vector<float>& line, const float* in, int step, int n, float* out);

  /// out[x] = sum over i of line[i] * rows[i][x].
  void (*sum_across)(const std::vector<float>& line, const float* const* rows, int n, float* out);

  /// Brings turned rows of interleaved pixels onto a grid. Node n of channel c becomes row
  /// n * channels + c of `out`, which has kLineStep floats and lies `stride` floats from the next.
  /// Up to kNodesAtOnce - 1 nodes beyond `nodes` are written, and their samples are read.
  void (*nodes_of_lines)(const std::vector<float>& down, const float* lines, int channels, int step,
                         int nodes, float* out, std::ptrdiff_t stride);

  /// row[x] -= sum over k of weights[k][x] * nodes[places[x] + k * channels].
  void (*subtract_nodes)(const Between& between, const float* nodes, int n, float* row);

  /// out[x] = sum over k of back[k] * rows[k][x] + weights[k][x] * nodes[places[x] + k * channels].
  void (*interpolate_row)(const float (&back)[3], const float* const* rows, const Between& between,
                          const float* nodes, int n, float* out);
};

/// The loops for this machine.
template <class T>
RowLoops<T> row_loops();

}  // namespace convfilt::coarse
