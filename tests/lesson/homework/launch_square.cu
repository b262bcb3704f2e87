// A square picture, whose sides have one name and never change.
__constant__ float M[25];
__global__ void square_conv(const float* in, float* out, int width, int height) {
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
  float *in, *out;
  const int tile = 16, n = 1024;
  square_conv<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(in, out, n, n);
}
