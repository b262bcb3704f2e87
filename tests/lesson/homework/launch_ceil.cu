// Whole blocks by ceil() of real numbers, in a wrapper with a macro.
#include <cmath>
#define BLOCKS(n, each) int(ceil(n * 1.0 / each))
__constant__ float M[25];
__global__ void rounded(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
        sum += M[(j + 2) * 5 + i + 2] * in[(y + j) * width + x + i];
  out[y * width + x] = sum;
}

int main() {
  const int width = 1000, height = 700;
  float *in, *out;
  dim3 block(16, 16);
  dim3 grid(BLOCKS(width, 16.f), ceil(height / 16.0));
  rounded<<<grid, block>>>(in, out, width, height);
}
