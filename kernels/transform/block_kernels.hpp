/// The kernels of transformed_blocks.cu: samples into blocks, sums over the mask's parts, and
/// blocks of outputs added up.
#pragma once

#include "kernels/transform/block_plans.hpp"
#include "kernels/transform/transform_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kProductThreads = 256;

/// Which blocks a batch holds: those of a step, from its number `begin` on.
struct Batch {
  int first_x, first_y, stride_x, stride_y, columns, begin;

  CONVFILT_HD int x(int n) const { return first_x + (begin + n) % columns * stride_x; }
  CONVFILT_HD int y(int n) const { return first_y + (begin + n) / columns * stride_y; }
};

/// What a batch's transforms read and write: S samples a block, or its outputs, and zeros.
struct Frames {
  float* data;
  int columns, rows;

  CONVFILT_HD float& at(int n, int col, int row) const {
    return data[(std::ptrdiff_t(n) * rows + row) * columns + col];
  }
};

/// Half spectra of a grid of blocks or parts, `length` numbers each.
struct SpectrumGrid {
  const Complex* data;
  int columns, rows, length;

  CONVFILT_HD Complex at(int x, int y, int k) const {
    return data[(std::ptrdiff_t(y) * columns + x) * length + k];
  }
};

struct Extent {
  int columns, rows;
};

/// `samples`: how many the outputs need; the first is (dx, dy) of the picture.
template <class T, Border B>
__global__ void load_blocks_kernel(PlaneView<const T> in, Frames frames, T ghost, Batch batch,
                                   Extent block, Extent samples, int dx, int dy) {
  const int n = blockIdx.z;
  const int col = blockIdx.x * kBlockColumns + threadIdx.x;
  const int row = blockIdx.y * kBlockRows + threadIdx.y;
  if (col >= frames.columns || row >= frames.rows) return;

  // Load one sample of the block; behind it, and beyond what any output needs, are zeros.
  const int x = batch.x(n) * block.columns + col;
  const int y = batch.y(n) * block.rows + row;
  const bool inside =
      col < block.columns && row < block.rows && x < samples.columns && y < samples.rows;
  frames.at(n, col, row) = inside ? float(load<B>(in, x + dx, y + dy, ghost)) : 0.0f;
}

/// A template only so that every file that includes it may have it.
template <class Number>
__global__ void sum_products_kernel(SpectrumGrid blocks, SpectrumGrid parts, Batch batch,
                                    Number* sums) {
  const int n = blockIdx.y;
  const int k = blockIdx.x * kProductThreads + threadIdx.x;
  if (k >= blocks.length) return;

  // Sum over the parts that meet a block; where there is none, no output needs its samples.
  Number sum{0, 0};
  for (int j = 0; j < parts.rows && batch.y(n) + j < blocks.rows; ++j) {
    for (int i = 0; i < parts.columns && batch.x(n) + i < blocks.columns; ++i) {
      const Number term =
          product(blocks.at(batch.x(n) + i, batch.y(n) + j, k), conjugate(parts.at(i, j, k)));
      sum = {sum.x + term.x, sum.y + term.y};
    }
  }
  sums[std::ptrdiff_t(n) * blocks.length + k] = sum;
}

template <bool kAtomically>
__global__ void add_blocks_kernel(Frames frames, PlaneView<float> sums, Batch batch, Extent block,
                                  Extent part) {
  const int n = blockIdx.z;
  const int col = int(blockIdx.x * kBlockColumns + threadIdx.x) - (part.columns - 1);
  const int row = int(blockIdx.y * kBlockRows + threadIdx.y) - (part.rows - 1);
  const int x = batch.x(n) * block.columns + col;
  const int y = batch.y(n) * block.rows + row;
  if (col >= block.columns || row >= block.rows || !contains(sums, x, y)) return;

  // Outputs left of the block and above it lie at the frame's end.
  const float sum =
      frames.at(n, col < 0 ? col + frames.columns : col, row < 0 ? row + frames.rows : row);
  if constexpr (kAtomically) {
    atomic_add(sums.row(y)[x], sum);
  } else {
    sums.row(y)[x] += sum;
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
