// Numbers whose declared types decide how they are divided, after a launch to warm up.
__constant__ float M[25];
__global__ void float_conv(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
        sum += M[(j + 2) * 5 + i + 2] * in[(y + j) * width + x + i];
  out[y * width + x] = sum;
}

float ratio(float a, float b) { return a / b; }

int main(int argc, char** argv) {
  int width = atoi(argv[1]), height = atoi(argv[2]);
  float *in, *out, w = width;
  const double tile = 16;
  float_conv<<<1, 1>>>(in, out, 1, 1);
  float_conv<<<dim3(ceil(w / 16), ceil(ratio(height, tile))), dim3(16, 16)>>>(in, out, width, height);
}
