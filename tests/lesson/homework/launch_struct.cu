// Shifts, a condition, and the sides of a struct.
struct Picture {
  float* samples;
  int width, height;
};
__constant__ float M[25];
__global__ void shifted(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
        sum += M[(j + 2) * 5 + i + 2] * in[(y + j) * width + x + i];
  out[y * width + x] = sum;
}

void run(const Picture& from, Picture* to) {
  dim3 block(1 << 4, 8u);
  dim3 grid((from.width + 15) >> 4, from.height % 8 == 0 ? from.height / 8 : from.height / 8 + 1);
  shifted<<<grid, block>>>(from.samples, to->samples, from.width, from.height);
}
