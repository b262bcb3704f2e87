# Threads that write the same value to a word of shared memory do no harm, whatever order they come in; another value, or a read
# before the barrier, is a race.
need_tool c++
need_tool addr2line
kernel() {  # NAME BODY: with x and y of the thread's output and k of the thread
  cat >"$1.cu" <<KERNEL
// launch: block 8x8
__constant__ float F[1][1];
__global__ void $1(float* in, float* out, int width, int height) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, k = threadIdx.y * 8 + threadIdx.x;
  $2
}
KERNEL
  convfilt try "$1.cu" --device cpu --json >said.json 2>/dev/null || :
  echo "$1: $(sed -n 's/^  "status": "\(.*\)",/\1/p;s/^ *"kind": "\(.*\)",/\1/p' said.json | xargs)"
}
end='if (x < width && y < height) out[y * width + x] = F[0][0] * in[y * width + x]'
kernel origin "__shared__ int bx; bx = blockIdx.x * 8; __syncthreads(); x = bx + threadIdx.x; $end;"
kernel edge "__shared__ int edge; if (k == 0) edge = 0; __syncthreads(); if (x >= width) edge = width; __syncthreads(); $end + (edge > 999);"
# The halo of neighbours is loaded twice, once as a ghost cell that becomes a sample.
kernel overlap "__shared__ float t[80]; for (int i = k; i < k + 16; i++) { t[i] = 0; if (width > 0) t[i] = i; } __syncthreads(); $end + 0 * t[k];"
kernel other_value "__shared__ int s; s = k / 63; __syncthreads(); $end + (s > 999);"
kernel own_last "__shared__ int s; s = 0; s = k; __syncthreads(); $end + (s > 999);"
kernel read_between "__shared__ int s; s = 1; int a = *(volatile int*)&s; __syncthreads(); $end + (a > 999);"
# In turns of a warp.
kernel in_turns "__shared__ int s; s = width; __syncwarp(); if (k % 32 == 0) s = -height; __syncthreads(); $end + (s > 999);"
kernel beside_atomic "__shared__ int s; if (k == 0) s = 0; __syncthreads(); if (k % 2) atomicAdd(&s, k); else s = 0; __syncthreads(); $end + (s > 999);"
convfilt try origin.cu --device cpu | grep remark || :
# What an addition lacks is no barrier.
kernel sum "__shared__ float s; if (k == 0) s = 0; __syncthreads(); float a = s; if (a >= 0) s = a + 1; __syncthreads(); $end + (s > 999);"
sed -n 's/^ *"text": //p' said.json
