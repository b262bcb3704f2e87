# What the host's compiler takes and nvcc refuses is refused with a line; what only looks like that is not.
need_tool c++
need_tool addr2line
kernel() {  # NAME HEAD BODY: with x and y of the thread's output and k of the thread
  cat >"$1.cu" <<KERNEL
// launch: block 8x8
__constant__ float F[1][1];
$2
__global__ void f_$1(float* in, float* out, int width, int height) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, k = threadIdx.y * 8 + threadIdx.x;
  $3
}
KERNEL
  try try "$1.cu" --device cpu | head -n 2
}
end='if (x < width && y < height) out[y * width + x] = F[0][0] * in[y * width + x]'
kernel helper 'inline float helper(float a) { return a; }' "$end + helper(0);"
kernel deeper 'float low(float a) { return a; } __device__ float helper(float a) { return low(a); }' "$end + helper(0);"
kernel set_shared '' "__shared__ float t[4] = {0}; $end + t[0];"
kernel set_braces '' "__shared__ int n{3}; $end + 0 * n;"
kernel variable '' "float t[blockDim.x]; t[k % 8] = 0; $end + t[k % 8];"
kernel vector '#include <vector>' "std::vector<float> t(4); $end + t[0];"
kernel assembler '' "asm(\"trap;\"); $end;"
# These nvcc takes, one of them with --expt-relaxed-constexpr.
kernel device '__device__ float helper(float a); float unused(float a) { return a; } __device__ float helper(float a) { return a; }' "$end + helper(0);"
kernel both '__host__ __device__ float helper(float a) { return a; } constexpr int four(int n) { return 4; }' "float t[four(1)]; t[k % 4] = 0; $end + helper(t[k % 4]);"
kernel macro '#define DEVICE __device__
DEVICE float helper(float a) { return a; }' "$end + helper(0);"
kernel named 'float sum(float a) { return a; }' "float sum(0); $end + sum;"
kernel constants '#define N 4' "const int n = 2 * N; __shared__ float t[n]; float u[n] = {0}; if (k < n) t[k] = u[k]; __syncthreads(); $end + t[0];"
kernel lambda 'float sum(float a) { return a; }' "auto f = [&](float a) { return a; }; $end + f(0);"
