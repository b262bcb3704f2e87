// As many blocks as the device likes; threads go on until all outputs are there.
__constant__ float M[25];
__global__ void stride_conv(const float* in, float* out, int width, int height) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < width * height; k += gridDim.x * blockDim.x) {
    const int x = k % width, y = k / width;
    float sum = 0.0f;
    for (int j = -2; j <= 2; ++j)
      for (int i = -2; i <= 2; ++i)
        if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
          sum += M[(j + 2) * 5 + i + 2] * in[(y + j) * width + x + i];
    out[k] = sum;
  }
}

int main() {
  int width = 4000, height = 3000;
  float *in, *out;
  stride_conv<<<32, 256>>>(in, out, width, height);
}
