# Mistakes that results do not show: nothing that a kernel reads or writes beside its memory, and no local variable, is right by luck.
need_tool c++
need_tool addr2line
kernel() {  # NAME BODY: with x and y of the thread's output and k of the thread
  cat >"$1.cu" <<KERNEL
// launch: block 8x4
__constant__ float F[1][1];
__global__ void $1(float* in, float* out, int width, int height) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, k = threadIdx.y * 8 + threadIdx.x;
  $2
}
KERNEL
  convfilt try "$1.cu" --device cpu --json >said.json 2>/dev/null || :
  echo "$1: $(sed -n 's/^  "status": "\(.*\)",/\1/p' said.json)"
  sed -n '/^  "faults"/,/^  "remarks"/{s/^ *"line": /  line /p;s/^ *"text": /  /p}' said.json
}
tail='if (x < width && y < height) out[y * width + x] = F[0][0] * in[y * width + x]'
kernel unset_local "float sum; if (x < width && y < height) { sum += F[0][0] * in[y * width + x]; out[y * width + x] = sum; }"
kernel behind_mask "volatile float* f = &F[0][0]; $tail + 0 * f[k / 31];"
kernel behind_shared "volatile __shared__ float s[32]; s[k + 1] = 0; $tail;"
kernel atomics "__shared__ float a; if (k == 0) a = 0; atomicAdd(&a, 1.0f); __syncthreads(); $tail + 0 * a;"
kernel early "__shared__ float s[32]; float a = s[k]; __syncthreads(); s[k] = 0; $tail + 0 * a;"
kernel far_write "$tail; if (k == 0) out[1000000] = 0;"
kernel null "float* p = width > 0 ? nullptr : in; if (k == 9) *p = 1; $tail;"
kernel deep "volatile float a[200000]; a[k] = 0; $tail + a[k];"
kernel infinite "if (x < width && y < height) out[y * width + x] = in[y * width + x] / 0.0f;"
kernel too_strict "if (x < width && y < height) out[y * width + x] = x > 0 ? F[0][0] * in[y * width + x] : 0;"
