// Cooperative groups in place of __syncthreads(); threads sweep over the tile.
// launch: block 16x8, a block for each 16x16 outputs
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kRadius = 2;
constexpr int kTile = 16;
constexpr int kSide = kTile + 2 * kRadius;

__constant__ float weights[(2 * kRadius + 1) * (2 * kRadius + 1)];

__device__ float sample(const float* in, int x, int y, int width, int height) {
  return x < 0 || x >= width || y < 0 || y >= height ? 0.f : in[y * width + x];
}

__global__ void conv_groups(const float* in, float* out, int width, int height) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ float tile[kSide * kSide];
  const int left = block.group_index().x * kTile - kRadius;
  const int top = block.group_index().y * kTile - kRadius;
  for (int i = block.thread_rank(); i < kSide * kSide; i += block.size()) {
    tile[i] = sample(in, left + i % kSide, top + i / kSide, width, height);
  }
  block.sync();
  for (int row = block.thread_index().y; row < kTile; row += blockDim.y) {
    const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + row;
    if (x >= width || y >= height) continue;
    float sum = 0;
    for (int j = 0; j <= 2 * kRadius; ++j)
      for (int i = 0; i <= 2 * kRadius; ++i)
        sum += weights[j * (2 * kRadius + 1) + i] * tile[(row + j) * kSide + threadIdx.x + i];
    out[y * width + x] = sum;
  }
}
