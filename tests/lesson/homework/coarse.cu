// Each thread computes four outputs, one row of threads below the other.
#define R 2
#define BX 32
#define BY 8
#define PER_THREAD 4

__global__ void conv_coarse(const float* a, const float* k, float* b, size_t nx, size_t ny) {
  const size_t x = (size_t)blockIdx.x * BX + threadIdx.x;
  for (int s = 0; s < PER_THREAD; s++) {
    const size_t y = (size_t)blockIdx.y * BY * PER_THREAD + threadIdx.y + s * BY;
    if (x >= nx || y >= ny) return;
    float acc = 0.f;
    for (int j = -R; j <= R; j++) {
      const long yy = (long)y + j;
      if (yy < 0 || yy >= (long)ny) continue;
      for (int i = -R; i <= R; i++) {
        const long xx = (long)x + i;
        if (xx < 0 || xx >= (long)nx) continue;
        acc = fmaf(k[(j + R) * (2 * R + 1) + i + R], a[yy * nx + xx], acc);
      }
    }
    b[y * nx + x] = acc;
  }
}

int main() {
  size_t nx = 2048, ny = 1024;
  const float *a = nullptr, *k = nullptr;
  float* b = nullptr;
  dim3 block(BX, BY);
  dim3 grid((nx + BX - 1) / BX, (ny + BY * PER_THREAD - 1) / (BY * PER_THREAD));
  conv_coarse<<<grid, block>>>(a, k, b, nx, ny);
}
