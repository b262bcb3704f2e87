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

/// The ghost cells beside each row: `left` samples before it and `right` samples behind it. They
/// are written in fours, which begin at multiples of four samples from the row's first.
struct SideSamples {
  int left, right;
  Border border;
  int channels;
  int rows;  ///< of a thread, which looks up its columns once

  CONVFILT_HD int fours_left() const { return ceil_div(left, 4); }
  CONVFILT_HD int fours(int width) const { return fours_left() + ceil_div(width % 4 + right, 4); }
};

constexpr int kSideRows = 4;  // that a thread loads before it stores them

template <class T>
static __global__ void sides_kernel(PlaneView<T> picture, SideSamples sides, T ghost) {
  const int four = blockIdx.y * blockDim.x + threadIdx.x;
  const int first = (blockIdx.x * blockDim.y + threadIdx.y) * sides.rows;
  if (four >= sides.fours(picture.width)) return;
  const int behind = four - sides.fours_left();
  const int x = 4 * behind + (behind < 0 ? 0 : picture.width / 4 * 4);
  int columns[4];
  bool beside[4];  // samples inside the picture are not written, since other threads read them
  for (int k = 0; k < 4; ++k) {
    const int at = x + k;
    columns[k] = border_sample(sides.border, at, picture.width, sides.channels);
    beside[k] = (at >= -sides.left && at < 0) ||
                (at >= picture.width && at < picture.width + sides.right);
  }
  const bool whole = beside[0] && beside[1] && beside[2] && beside[3] &&
                     lies_at_multiples_of(4 * sizeof(T), picture);
  const PlaneView<const T> from{picture.data, picture.width, picture.height, picture.stride};
  const int end = min(first + sides.rows, picture.height);
  CONVFILT_UNROLL(1)
  for (int y = first; y < end; y += kSideRows) {
    Four<T> samples[kSideRows];
    CONVFILT_UNROLL(kSideRows)
    for (int row = 0; row < kSideRows; ++row) {
      for (int k = 0; k < 4; ++k) {
        const bool read = beside[k] && y + row < end;
        samples[row].samples[k] = read ? load_or_ghost(from, columns[k], y + row, ghost) : ghost;
      }
    }
    CONVFILT_UNROLL(kSideRows)
    for (int row = 0; row < kSideRows; ++row) {
      if (y + row >= end) break;
      T* const to = picture.row(y + row) + x;
      if (whole) {
        *reinterpret_cast<Four<T>*>(to) = samples[row];
      } else {
        for (int k = 0; k < 4; ++k) {
          if (beside[k]) to[k] = samples[row].samples[k];
        }
      }
    }
  }
}

/// Launches sides_kernel. Taps reach `left` samples before a row and `right` samples behind it.
template <class T>
void write_sides(const PlaneView<T>& picture, T ghost, Border border, int channels, int left,
                 int right, const Stream& stream) {
  if (left + right == 0) return;
  SideSamples sides{left, right, border, channels, kSideRows};
  const int fours = sides.fours(picture.width);
  if (fours > 32) sides.rows = 4 * kSideRows;
  // Where there are few columns, a block takes more rows, so that none of its threads is idle.
  constexpr int kThreads = 128;
  dim3 block(1);
  while (int(block.x) < std::min(fours, kThreads)) block.x *= 2;
  block.y = kThreads / block.x;
  launch(dim3(ceil_div(picture.height, int(block.y) * sides.rows),
              ceil_div(fours, int(block.x))),
         block, stream, sides_kernel<T>, picture, sides, ghost);
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
