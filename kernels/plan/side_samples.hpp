/// Ghost cells to the left and right of a picture, which a separate kernel writes into the padding
/// of its rows. Strips at the sides that made them up themselves would end later than all others.
#pragma once

#include <algorithm>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/plan/device_plan.hpp"
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

/// How many rows a thread of rows_kernel copies, and the shape of its blocks.
struct RowShape {
  static constexpr int kRows = 4, kThreadsAcross = 32, kThreadsDown = 8;
};

/// Samples from the first sixteen bytes that rows_kernel writes in a row to the row's first sample.
template <class T>
CONVFILT_HD int chunks_before(const PlaneView<T>& to, int left) {
  constexpr int kChunk = int(sizeof(Bytes16) / sizeof(T));
  const int lead = int(reinterpret_cast<std::uintptr_t>(to.data) / sizeof(T) % kChunk);
  return lead + (left > lead ? ceil_div(left - lead, kChunk) * kChunk : 0);
}

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

/// Copies a picture's rows, which may begin anywhere in memory, to rows that all begin at the same
/// offset from a multiple of 16, and writes their ghost cells as sides_kernel does. `across` blocks
/// lie side by side. cudaMemcpy2DAsync() takes twice the time of a copy between rows that lie alike
/// (H200).
template <class T>
static __global__ void rows_kernel(PlaneView<const T> from, PlaneView<T> to, T ghost, Border border,
                                   int channels, int left, int right, int across) {
  constexpr int kChunk = int(sizeof(Bytes16) / sizeof(T)), kWord = 4 / int(sizeof(T));
  constexpr int kRows = RowShape::kRows;
  const int chunk = blockIdx.x % across * blockDim.x + threadIdx.x;
  const int x = chunk * kChunk - chunks_before(to, left);
  const int end = from.width + right;
  if (x >= end) return;
  const int first = (blockIdx.x / across * blockDim.y + threadIdx.y) * kRows;
  const int rows = min(kRows, from.height - first);
  // Whole words of memory are read, of which the row has all bytes.
  if (x >= kWord && x + kChunk + kWord <= from.width) {
    Bytes16 chunks[kRows];
    CONVFILT_UNROLL(kRows)
    for (int k = 0; k < kRows; ++k) {
      if (k >= rows) continue;
      const auto address = reinterpret_cast<std::uintptr_t>(from.row(first + k) + x);
      const int shift = int(address % 4 * 8);
      const auto* words = reinterpret_cast<const std::uint32_t*>(address - address % 4);
      CONVFILT_UNROLL(4)
      for (int word = 0; word < 4; ++word) {
        const std::uint64_t two = std::uint64_t{words[word + 1]} << 32 | words[word];
        chunks[k].words[word] = std::uint32_t(two >> shift);
      }
    }
    CONVFILT_UNROLL(kRows)
    for (int k = 0; k < kRows; ++k) {
      if (k < rows) *reinterpret_cast<Bytes16*>(to.row(first + k) + x) = chunks[k];
    }
    return;
  }
  CONVFILT_UNROLL(1)
  for (int at = max(x, -left); at < min(x + kChunk, end); ++at) {
    const int column = border_sample(border, at, from.width, channels);
    CONVFILT_UNROLL(1)
    for (int k = 0; k < rows; ++k)
      to.row(first + k)[at] = load_or_ghost(from, column, first + k, ghost);
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

/// Does the same, and first copies the rows from `callers`, if that is a picture: run_resident()
/// leaves it to filter().
template <class T>
void bring_rows(const DevicePlane& callers, const PlaneView<T>& to, T ghost, Border border,
                int channels, int left, int right, const Stream& stream) {
  if (!callers.data) return write_sides(to, ghost, border, channels, left, right, stream);
  const PlaneView<const T> from = callers.view<const T>();
  constexpr int kSamples = RowShape::kThreadsAcross * int(sizeof(Bytes16) / sizeof(T));
  const int across = ceil_div(chunks_before(to, left) + from.width + right, kSamples);
  const int down = ceil_div(from.height, RowShape::kThreadsDown * RowShape::kRows);
  launch(dim3(unsigned(across) * unsigned(down)),
         dim3(RowShape::kThreadsAcross, RowShape::kThreadsDown), stream, rows_kernel<T>, from, to,
         ghost, border, channels, left, right, across);
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

/// Brings the rows with the ghost cells that the mask reaches, where its first tap lies `dx` pixels
/// from the output. Returns the number of samples written before a row.
template <class T>
int bring_rows(const DevicePlane& callers, const PlaneView<T>& to, int out_width, T ghost,
               const Problem& problem, int dx, int channels, const Stream& stream) {
  const int left = -dx * channels;
  const int right = std::max(0, out_width + (problem.mask.width - 1) * channels - left - to.width);
  bring_rows(callers, to, ghost, problem.border, channels, left, right, stream);
  return left;
}

}  // namespace convfilt::CONVFILT_BACKEND
