// Shared memory whose size the launch says; the radius is a parameter.
#include <cuda_runtime.h>

#define TILE 16

__global__ void conv_dynamic(float* output, const float* input, const float* mask, int imgWidth,
                             int imgHeight, int radius) {
  extern __shared__ float smem[];
  int tileWidth = TILE + 2 * radius;
  int startX = (int)(blockIdx.x * TILE) - radius;
  int startY = (int)(blockIdx.y * TILE) - radius;
  for (int ty = threadIdx.y; ty < tileWidth; ty += TILE) {
    for (int tx = threadIdx.x; tx < tileWidth; tx += TILE) {
      int gx = startX + tx, gy = startY + ty;
      if (gx >= 0 && gx < imgWidth && gy >= 0 && gy < imgHeight) {
        smem[ty * tileWidth + tx] = input[gy * imgWidth + gx];
      } else {
        smem[ty * tileWidth + tx] = 0.0f;
      }
    }
  }
  __syncthreads();
  int col = blockIdx.x * TILE + threadIdx.x;
  int row = blockIdx.y * TILE + threadIdx.y;
  if (col < imgWidth && row < imgHeight) {
    int maskWidth = 2 * radius + 1;
    float sum = 0.0f;
    for (int i = 0; i < maskWidth; i++) {
      for (int j = 0; j < maskWidth; j++) {
        sum += smem[(threadIdx.y + i) * tileWidth + threadIdx.x + j] * mask[i * maskWidth + j];
      }
    }
    output[row * imgWidth + col] = sum;
  }
}

void convolve(float* d_out, const float* d_in, const float* d_mask, int W, int H, int radius) {
  dim3 threads(TILE, TILE);
  dim3 blocks((W + TILE - 1) / TILE, (H + TILE - 1) / TILE);
  size_t shared = (TILE + 2 * radius) * (TILE + 2 * radius) * sizeof(float);
  conv_dynamic<<<blocks, threads, shared>>>(d_out, d_in, d_mask, W, H, radius);
}
