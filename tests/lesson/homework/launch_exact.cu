// A picture whose size never changes, and is a multiple of the block.
#define WIDTH 1024
#define HEIGHT 768
__constant__ float M[25];
__global__ void exact_conv(const float* in, float* out, int width, int height) {
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
  exact_conv<<<dim3(WIDTH / 16, HEIGHT / 16), dim3(16, 16)>>>(in, out, WIDTH, HEIGHT);
}
