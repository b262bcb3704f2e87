/// The inner loops of `coarse` on the CPU, for every vector width, chosen at run time. All may read
/// and write whole blocks beyond the ends of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/turned_rows.hpp"

namespace convfilt::cpu {

/// Adds the rows of one cell to the rows of the three nodes that it is part of: the last of the
/// first, and so on; null where there is none. `down` has 3 * step weights.
void add_cell(const std::vector<float>& down, const float* const* rows, int step, int n,
              float* const* nodes);

/// out[x] = sum over i of line[i] * in[x + i * step].
void sum_along(const std::vector<float>& line, const float* in, int step, int n, float* out);

/// out[x] = sum over i of line[i] * rows[i][x].
void sum_across(const std::vector<float>& line, const float* const* rows, int n, float* out);

/// Nodes of lines side by side (turned_rows.hpp) that hold pixels of so many channels: node n of
/// channel c is row n * channels + c of `out`, kLineStep floats, `stride` apart. Writes up to
/// kNodesAtOnce - 1 nodes beyond `nodes`, and reads their samples.
inline constexpr int kNodesAtOnce = 4;
void nodes_of_lines(const std::vector<float>& down, const float* lines, int channels, int step,
                    int nodes, float* out, std::ptrdiff_t stride);

/// Where a row's samples lie between nodes: weights of the node at places[x], and of the two behind
/// it.
struct Between {
  const std::int32_t* places;
  const float* weights[3];
  int channels;
};

/// row[x] -= sum over k of weights[k][x] * nodes[places[x] + k * channels].
void subtract_nodes(const Between& between, const float* nodes, int n, float* row);

/// out[x] = sum over k of back[k] * rows[k][x] + weights[k][x] * nodes[places[x] + k * channels].
void interpolate_row(const float (&back)[3], const float* const* rows, const Between& between,
                     const float* nodes, int n, float* out);

}  // namespace convfilt::cpu
