// A template, whose arguments have defaults; another choice in main().
#include <cuda_runtime.h>

template <typename T, int RADIUS = 1, int BLOCK = 16>
__global__ void conv_template(const T* __restrict__ src, T* __restrict__ dst,
                              const T* __restrict__ filter, unsigned cols, unsigned rows) {
  __shared__ T tile[BLOCK + 2 * RADIUS][BLOCK + 2 * RADIUS];
  const int x0 = int(blockIdx.x * BLOCK) - RADIUS;
  const int y0 = int(blockIdx.y * BLOCK) - RADIUS;
  for (unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
       t < (BLOCK + 2 * RADIUS) * (BLOCK + 2 * RADIUS); t += blockDim.x * blockDim.y) {
    const int ty = t / (BLOCK + 2 * RADIUS), tx = t % (BLOCK + 2 * RADIUS);
    const int y = y0 + ty, x = x0 + tx;
    T value = T(0);
    if (x >= 0 && y >= 0 && x < int(cols) && y < int(rows)) value = src[size_t(y) * cols + x];
    tile[ty][tx] = value;
  }
  __syncthreads();

  const unsigned x = blockIdx.x * BLOCK + threadIdx.x;
  const unsigned y = blockIdx.y * BLOCK + threadIdx.y;
  if (x < cols && y < rows) {
    T sum = T(0);
#pragma unroll
    for (int j = 0; j <= 2 * RADIUS; ++j)
#pragma unroll
      for (int i = 0; i <= 2 * RADIUS; ++i)
        sum += filter[j * (2 * RADIUS + 1) + i] * tile[threadIdx.y + j][threadIdx.x + i];
    dst[size_t(y) * cols + x] = sum;
  }
}

int main() {
  const unsigned cols = 640, rows = 480;
  float *src, *dst, *filter;
  constexpr int kBlock = 16;
  const dim3 block(kBlock, kBlock);
  const dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  conv_template<float, 2, kBlock><<<grid, block>>>(src, dst, filter, cols, rows);
}
