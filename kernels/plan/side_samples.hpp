/// Ghost cells to the left and right of a picture, which a separate kernel writes into the padding
/// of its rows. Strips at the sides that made them up themselves would end later than all others.
#pragma once

#include <algorithm>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/plan/ghost_cells.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Whether rows may have room for ghost cells. Where memory is short, the picture needs it more.
inline bool has_room_for_sides(const PlanOptions& options) {
  constexpr std::size_t kEnough = 1 << 18;
  return options.padded_pitch && (options.memory_limit == 0 || options.memory_limit >= kEnough);
}

/// Writes the ghost cells beside the rows into their padding. Each thread writes kSideRows rows of
/// one column.
constexpr int kSideRows = 4;
template <class T>
static __global__ void sides_kernel(PlaneView<T> picture, T ghost, Border border, int channels,
                                    int left, int right) {
  const int side = blockIdx.y * blockDim.x + threadIdx.x;
  if (side >= left + right) return;
  const int x = side < left ? side - left : picture.width + side - left;
  const int column = border_sample(border, x, picture.width, channels);
  const PlaneView<const T> from{picture.data, picture.width, picture.height, picture.stride};
  const int first = (blockIdx.x * blockDim.y + threadIdx.y) * kSideRows;
  T samples[kSideRows];
  CONVFILT_UNROLL(kSideRows)
  for (int k = 0; k < kSideRows; ++k) {
    if (first + k < picture.height) samples[k] = load_or_ghost(from, column, first + k, ghost);
  }
  CONVFILT_UNROLL(kSideRows)
  for (int k = 0; k < kSideRows; ++k) {
    if (first + k < picture.height) picture.row(first + k)[x] = samples[k];
  }
}

/// Launches sides_kernel. Taps reach `left` samples before a row and `right` samples behind it. A
/// column a thread is faster than four where sides are narrow, and at most 2 % slower where they
/// are as wide as a coarse grid's.
template <class T>
void write_sides(const PlaneView<T>& picture, T ghost, Border border, int channels, int left,
                 int right, const Stream& stream) {
  if (left + right == 0) return;
  const dim3 block(32, 8);
  launch(dim3(ceil_div(picture.height, int(block.y) * kSideRows),
              ceil_div(left + right, int(block.x))),
         block, stream, sides_kernel<T>, picture, ghost, border, channels, left, right);
}

/// The widest row that kernels walk down, so that columns, rounded up to whole lanes, fit an int.
inline constexpr int kMostWalkedPixels = (1 << 30) / 3;

/// Bytes of a row beside its samples: a mask's reach, and what the last lane of a walk reads beyond
/// it.
template <class T>
int walk_sides(const Problem& problem) {
  const int more_outputs = std::max(0, problem.out_width() - problem.width);
  const int samples = (more_outputs + problem.mask.width - 1) * problem.channels;
  return samples * int(sizeof(T)) + 2 * int(sizeof(Bytes16));
}

/// Writes the ghost cells that the mask reaches, where its first tap lies `dx` pixels from the
/// output. Returns the number of samples written before a row.
template <class T>
int write_sides(const PlaneView<T>& picture, int out_width, T ghost, const Problem& problem, int dx,
                int channels, const Stream& stream) {
  const int left = -dx * channels;
  const int right =
      std::max(0, out_width + (problem.mask.width - 1) * channels - left - picture.width);
  write_sides(picture, ghost, problem.border, channels, left, right, stream);
  return left;
}

}  // namespace convfilt::CONVFILT_BACKEND
