// Three dimensions, one thread an output, the mask in global memory.
// launch: block 8x8x4
__global__ void conv3d_basic(const float* in, const float* mask, float* out, int width, int height,
                             int depth, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= width || y >= height || z >= depth) return;
  int n = 2 * r + 1;
  float sum = 0.0f;
  for (int k = -r; k <= r; k++)
    for (int j = -r; j <= r; j++)
      for (int i = -r; i <= r; i++) {
        int sx = x + i, sy = y + j, sz = z + k;
        if (sx < 0 || sx >= width || sy < 0 || sy >= height || sz < 0 || sz >= depth) continue;
        sum += mask[((k + r) * n + j + r) * n + i + r] * in[(sz * height + sy) * width + sx];
      }
  out[(z * height + y) * width + x] = sum;
}
