// Rows go along x: slow, and right, since the grid does so, too.
__constant__ float M[25];
__global__ void rows_first(const float* in, float* out, int width, int height) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= width || row >= height) return;
  float sum = 0.0f;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      if (col + i >= 0 && col + i < width && row + j >= 0 && row + j < height)
        sum += M[(j + 2) * 5 + i + 2] * in[(row + j) * width + col + i];
  out[row * width + col] = sum;
}

int main() {
  int width = 700, height = 500;
  float *in, *out;
  dim3 block(16, 8);
  dim3 grid((height + block.x - 1) / block.x, (width + block.y - 1) / block.y);
  rows_first<<<grid, block>>>(in, out, width, height);
}
