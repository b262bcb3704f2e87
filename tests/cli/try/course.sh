# What a GPU takes is no fault: barriers that the compiler makes twice, __syncwarp(), bytes of shared memory, CUDA's min and max beside
# those of std, homework with its main(), macros of any name, printf, large local arrays, the course's order of parameters.
need_tool c++
need_tool addr2line
verdict() { convfilt try "$1.cu" --device cpu --json >said.json 2>/dev/null || :; echo "$1: $(sed -n 's/^  "status": "\(.*\)",/\1/p;s/^ *"kind": "\(.*\)",/\1/p' said.json | xargs)"; }
# Jump threading makes two calls of this barrier.
cat >threading.cu <<'KERNEL'
// launch: block 8x8, a block for each 6x6 outputs
__constant__ float M[9];
__global__ void conv(const float* in, float* out, int width, int height) {
  __shared__ float t[8][8];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x*6 + tx - 1, y = blockIdx.y*6 + ty - 1;
  int mode = 0;
  if (x >= 0 && y >= 0 && x < width && y < height) { mode = 1; t[ty][tx] = in[y*width+x]; }
  else { mode = 0; t[ty][tx] = 0; }
  __syncthreads();
  if (mode == 0) return;
  if (tx < 1 || tx >= 7 || ty < 1 || ty >= 7) return;
  float s = 0;
  for (int j = 0; j < 3; j++) for (int i = 0; i < 3; i++) s += M[j*3+i]*t[ty-1+j][tx-1+i];
  out[y*width+x] = s;
}
KERNEL
# A row for each warp, in order by __syncwarp() alone.
cat >warps.cu <<'KERNEL'
// launch: block 32x2
__constant__ float M[3][3];
__global__ void conv(const float* in, float* out, int width, int height) {
  __shared__ float row[2][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 2 + threadIdx.y;
  float s = 0;
  for (int j = 0; j < 3; j++) {
    int v = y + j - 1;
    for (int k = threadIdx.x; k < 34; k += 32) {
      int u = int(blockIdx.x * 32) + k - 1;
      row[threadIdx.y][k] = (u >= 0 && u < width && v >= 0 && v < height) ? in[v * width + u] : 0.f;
    }
    __syncwarp();
    for (int i = 0; i < 3; i++) s += M[j][i] * row[threadIdx.y][threadIdx.x + i];
    __syncwarp();
  }
  if (x < width && y < height) out[y * width + x] = s;
}
KERNEL
sed '/__syncwarp/d' warps.cu >no_order.cu
cat >words.cu <<'KERNEL'
#include <iostream>
using namespace std;
// launch: block 8x4
static __constant__ float M[1];
static void __global__ conv(float* P, float* N, int m, int n) {
  __shared__ bool ok[4][8];
  __shared__ alignas(16) float zero[32];
  uint3 t = threadIdx;
  if (t.x == 0 && t.y == 0) memset(zero, 0, sizeof(zero));
  int x = blockIdx.x * blockDim.x + t.x, y = blockIdx.y * blockDim.y + t.y;
  ok[t.y][t.x] = x < n && y < m;
  __syncthreads();
  if (!__any_sync(0xffffffff, ok[t.y][t.x])) return;
  if (!ok[t.y][t.x]) return;
  float big[20000];
  big[min(blockDim.x, n)] = zero[t.x];
  if (x == 0 && y == 0) printf("error here\n");
  P[y * n + x] = M[0] * N[max(0, y) * n + min(x, n - 1)] + big[min(blockDim.x, n)];
}
KERNEL
# Homework: a launch, a course's header, shared memory of the launch at the file's level, macros that are named like our own things.
cat >homework.cu <<'KERNEL'
#include <wb.h>
#include <cuda_runtime.h>
#define c 1
#define width_of(x) x
#define mask_width 1
#define memory 3
namespace hw {
__constant__ float M[mask_width] = {0};
extern __shared__ float buf[];
// launch: block 8x4, 128 bytes of shared memory
__global__ void conv(const float* in, float* out, int width, int height, int channels) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, k = threadIdx.y * 8 + threadIdx.x;
  char quote = '"';
  buf[k] = x < width && y < height ? in[(y * width + x) * channels] : quote;
  __syncthreads();
  if (x < width && y < height) out[y * width + x] = M[0] * buf[k] * c;
}
}
int main() {
  float* p;
  wbCheck(cudaMalloc(&p, 4));
  hw::conv<<<dim3(1, 1), dim3(8, 4), 128>>>(p, p, 1, 1, 1);
}
KERNEL
for name in threading warps no_order words homework; do verdict $name; done
convfilt try words.cu --device cpu | grep remark
