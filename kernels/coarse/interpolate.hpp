/// The kernel of coarse.cu that interpolates between the nodes of grids, and ends the outputs.
#pragma once

#include "kernels/coarse/mask.hpp"
#include "kernels/coarse/samples.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

using namespace convfilt::coarse;

/// The planes that outputs are interpolated from: A, C and B of coarse.cu's head. Their channels
/// lie one below the other.
struct Grids {
  PlaneView<const float> fine_x, both, fine_y;
  int step_x, step_y;
  const SplineWeights *back_x, *back_y;
  float scale, start;  ///< factor of the sums and what they start from, in units of kEndRange
};

/// Interpolates outputs from the nodes around them. A thread walks down four columns of pixels
/// through `cells` cells.
template <class T, int channels>
__global__ void interpolate_kernel(Grids grids, PlaneView<T> out, int cells) {
  const int x = 4 * (blockIdx.x * kWalkThreads + threadIdx.x), at = x * channels;
  const int first = blockIdx.y * cells;
  if (at >= out.width || first * grids.step_y >= out.height) return;
  const bool wide = at + 4 * channels <= out.width && lies_at_multiples_of(4 * sizeof(T), out);
  const int nodes = grids.both.height / channels;
  constexpr int kRowsAtOnce = channels == 1 ? 4 : 2;  // so that a thread waits for their loads once

  // All four pixels lie in one cell, since steps are multiples of four.
  const int cell_x = x / grids.step_x;
  SplineWeights back[4];
  for (int k = 0; k < 4; ++k) {
    back[k] = load_weights(grids.back_x + (x - cell_x * grids.step_x + k));
    for (float& weight : back[k].samples) weight *= grids.scale;
  }

  // These are rows of nodes of f.x s.y - s.x s.y, at full resolution in x. They are interpolated in
  // y below.
  float rows[kOrder][channels][4];
  const auto next_row = [&](int node) {
    for (int c = 0; c < channels; ++c) {
      float both[kOrder];
      for (int n = 0; n < kOrder; ++n) both[n] = -load(grids.both, cell_x + n, c * nodes + node);
      const Four<float> fine = load4(grids.fine_x, x, c * nodes + node);
      for (int k = 0; k < 4; ++k) {
        rows[0][c][k] = rows[1][c][k];
        rows[1][c][k] = rows[2][c][k];
        float sum = fine.samples[k] * grids.scale;
        for (int n = 0; n < kOrder; ++n) sum = add_product(back[k].samples[n], both[n], sum);
        rows[2][c][k] = sum;
      }
    }
  };
  for (int n = 0; n < kOrder; ++n)
    for (int c = 0; c < channels; ++c)
      for (int k = 0; k < 4; ++k) rows[n][c][k] = 0;
  for (int n = 0; n < kOrder - 1; ++n) next_row(first + n);

  for (int cell = first; cell < first + cells; ++cell) {
    const int top = cell * grids.step_y, bottom = min(top + grids.step_y, out.height);
    if (top >= bottom) return;
    next_row(cell + kOrder - 1);
    PlaneView<const float> fine_y[channels];  // each begins at the current row
    for (int c = 0; c < channels; ++c) fine_y[c] = grids.fine_y.rows(c * out.height + top, 1);
    PlaneView<T> to = out.rows(top, 1);
    const auto end_rows = [&](auto count, int y) {
      constexpr int kRows = count;
      SplineWeights weights[kRows];
      float fine[kRows][channels][kOrder];
      CONVFILT_UNROLL(kRows)
      for (int r = 0; r < kRows; ++r) {
        weights[r] = load_weights(grids.back_y + (y - top) + r);
        CONVFILT_UNROLL(3)
        for (int c = 0; c < channels; ++c) {
          for (int n = 0; n < kOrder; ++n) fine[r][c][n] = load(fine_y[c], cell_x + n, 0);
          fine_y[c].data += fine_y[c].stride;
        }
      }
      CONVFILT_UNROLL(kRows)
      for (int r = 0; r < kRows; ++r, to.data += to.stride) {
        float sums[channels][4];
        CONVFILT_UNROLL(3)
        for (int c = 0; c < channels; ++c) {
          for (int k = 0; k < 4; ++k) sums[c][k] = grids.start;
          for (int n = 0; n < kOrder; ++n)
            for (int k = 0; k < 4; ++k)
              sums[c][k] = add_product(weights[r].samples[n], rows[n][c][k], sums[c][k]);
          for (int n = 0; n < kOrder; ++n)
            for (int k = 0; k < 4; ++k)
              sums[c][k] = add_product(back[k].samples[n], fine[r][c][n], sums[c][k]);
        }
        store_ended(sums, to, at, wide);
      }
    };
    int y = top;
    CONVFILT_UNROLL(1)
    for (; y + kRowsAtOnce <= bottom; y += kRowsAtOnce)
      end_rows(std::integral_constant<int, kRowsAtOnce>{}, y);
    CONVFILT_UNROLL(1)
    for (; y < bottom; ++y) end_rows(std::integral_constant<int, 1>{}, y);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::coarse
