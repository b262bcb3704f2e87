// The launch stands in a function for the host, with a lambda that rounds up; blocks are no squares, and the tile knows them.
#include <cuda_runtime.h>

#define R 2
#define BW 32
#define BH 8
__constant__ float weights[2 * R + 1][2 * R + 1];

__global__ void blur_tile(const float* src, float* dst, int cols, int rows) {
  __shared__ float tile[BH + 2 * R][BW + 2 * R];
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  for (int j = threadIdx.y; j < BH + 2 * R; j += BH)
    for (int i = threadIdx.x; i < BW + 2 * R; i += BW) {
      const int u = int(blockIdx.x * BW) + i - R, v = int(blockIdx.y * BH) + j - R;
      tile[j][i] = u >= 0 && u < cols && v >= 0 && v < rows ? src[v * cols + u] : 0.0f;
    }
  __syncthreads();
  if (x >= cols || y >= rows) return;
  float sum = 0.0f;
  for (int j = 0; j <= 2 * R; ++j)
    for (int i = 0; i <= 2 * R; ++i) sum += weights[j][i] * tile[threadIdx.y + j][threadIdx.x + i];
  dst[y * cols + x] = sum;
}

void blur(const float* d_src, float* d_dst, int w, int h) {
  const auto blocks = [](int n, int each) { return (n + each - 1) / each; };
  const dim3 threads(BW, BH);
  const dim3 grid(blocks(w, threads.x), blocks(h, threads.y));
  blur_tile<<<grid, threads>>>(d_src, d_dst, w, h);
}
