// Whole blocks by ceil(), along both axes; the block is chosen by somebody else.
#include <cmath>
__constant__ float M[25];
__global__ void chosen(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
        sum += M[(j + 2) * 5 + i + 2] * in[(y + j) * width + x + i];
  out[y * width + x] = sum;
}

dim3 best_block(int device);

void run(float* in, float* out, int width, int height) {
  dim3 block = best_block(0);
  dim3 grid(ceil(width / (float)block.x), ceil(height / (float)block.y));
  chosen<<<grid, block>>>(in, out, width, height);
}
