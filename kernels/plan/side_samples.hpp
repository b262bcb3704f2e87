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

/// How many columns and rows a thread of sides_kernel writes, and the shape of its blocks. Narrow
/// sides, as most masks have, are done soonest by a column a thread. Sides hundreds of samples
/// wide, as coarse has, want four samples a store and columns that are looked up once for many
/// rows.
template <int kColumnsAtOnce>
struct SideShape {
  static constexpr int kColumns = kColumnsAtOnce;
  static constexpr int kRows = kColumns == 1 ? 4 : 16;
  static constexpr int kThreadsAcross = kColumns == 1 ? 32 : 128;
  static constexpr int kThreadsDown = kColumns == 1 ? 8 : 1;
};
using NarrowSides = SideShape<1>;
using WideSides = SideShape<4>;

/// Writes the ghost cells beside the rows into their padding: `left` samples before a row and
/// `right` behind it, and nothing else.
template <class T, class Shape>
static __global__ void sides_kernel(PlaneView<T> picture, T ghost, Border border, int channels,
                                    int left, int right) {
  constexpr int kColumns = Shape::kColumns, kRows = Shape::kRows;
  const int side = kColumns * (blockIdx.y * blockDim.x + threadIdx.x);
  // Groups of columns begin at multiples of their size, counted from the row's first sample.
  const int before = ceil_div(left, kColumns) * kColumns;
  const int x = side < before ? side - before : picture.width / kColumns * kColumns + side - before;
  const int end = picture.width + right;
  if (x >= end) return;
  int columns[kColumns];
  CONVFILT_UNROLL(kColumns)
  for (int k = 0; k < kColumns; ++k) {
    columns[k] = border_sample(border, x + k, picture.width, channels);
  }
  const PlaneView<const T> from{picture.data, picture.width, picture.height, picture.stride};
  const int first = (blockIdx.x * blockDim.y + threadIdx.y) * kRows;
  if constexpr (kColumns == 1) {
    T samples[kRows];
    CONVFILT_UNROLL(kRows)
    for (int k = 0; k < kRows; ++k) {
      if (first + k < picture.height)
        samples[k] = load_or_ghost(from, columns[0], first + k, ghost);
    }
    CONVFILT_UNROLL(kRows)
    for (int k = 0; k < kRows; ++k) {
      if (first + k < picture.height) picture.row(first + k)[x] = samples[k];
    }
  } else {
    const bool beside =
        x >= -left && (x + kColumns <= 0 || (x >= picture.width && x + kColumns <= end));
    const bool whole = beside && lies_at_multiples_of(sizeof(Four<T>), picture);
    const int rows = min(kRows, picture.height - first);
    CONVFILT_UNROLL(4)
    for (int k = 0; k < rows; ++k) {
      Four<T> samples;
      for (int i = 0; i < kColumns; ++i) {
        samples.samples[i] = load_or_ghost(from, columns[i], first + k, ghost);
      }
      T* const to = picture.row(first + k) + x;
      if (whole) {
        *reinterpret_cast<Four<T>*>(to) = samples;
      } else {
        // Other threads read the picture's own samples, so that this one must not store to them.
        for (int i = 0; i < kColumns; ++i) {
          const bool behind = x + i >= picture.width && x + i < end;
          if ((x + i < 0 && x + i >= -left) || behind) to[i] = samples.samples[i];
        }
      }
    }
  }
}

/// Launches sides_kernel. Taps reach `left` samples before a row and `right` samples behind it.
template <class T, class Shape = NarrowSides>
void write_sides(const PlaneView<T>& picture, T ghost, Border border, int channels, int left,
                 int right, const Stream& stream) {
  if (left + right == 0) return;
  const int columns =
      ceil_div(left, Shape::kColumns) * Shape::kColumns + picture.width % Shape::kColumns + right;
  const dim3 block(Shape::kThreadsAcross, Shape::kThreadsDown);
  launch(dim3(ceil_div(picture.height, Shape::kThreadsDown * Shape::kRows),
              ceil_div(columns, Shape::kThreadsAcross * Shape::kColumns)),
         block, stream, sides_kernel<T, Shape>, picture, ghost, border, channels, left, right);
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
