# The samples that a student may learn from are right; a kernel may take the mask as an argument, and dynamic shared memory.
need_tool c++
need_tool addr2line
convfilt try samples/kernels/basic.cu --device cpu
convfilt try samples/kernels/tiled_out.cu --device cpu --json | grep -E '"(right|pictures|kernel|divergent_warps|reuse)":'
cat >dynamic.cu <<'KERNEL'
#include <cuda_runtime.h>
// launch: block 16x16, 1600 bytes of shared memory
__global__ void dynamic(const float* in, float* out, int width, int height, const float* mask, int mask_width) {
  const int n = mask_width;
  extern __shared__ float tile[];
  const int r = n / 2, wide = 16 + 2 * r;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < wide * wide; k += 256) {
    int x = blockIdx.x * 16 - r + k % wide, y = blockIdx.y * 16 - r + k / wide;
    tile[k] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0.0f;
  }
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) sum += mask[j * n + i] * tile[(threadIdx.y + j) * wide + threadIdx.x + i];
  out[y * width + x] = sum;
}
KERNEL
convfilt try dynamic.cu --device cpu | head -n 3
convfilt try dynamic.cu --device cpu --mask-size 3x3 | head -n 2
# Too little of it is told.
try try dynamic.cu --device cpu --mask-size 9x9
