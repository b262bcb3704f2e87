# Courses grade by a tolerance. What it lets pass is told, and without one what would.
need_tool c++
need_tool addr2line
cat >rounds.cu <<'KERNEL'
// launch: block 16x16
__constant__ float F[3][3];
__global__ void rounds(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float s = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) {
      int u = x + i - 1, v = y + j - 1;
      if (u >= 0 && v >= 0 && u < width && v < height) s += in[v * width + u] * F[j][i];
    }
  out[y * width + x] = rintf(s * 1024) / 1024;
}
KERNEL
said() {
  convfilt try rounds.cu --device cpu "$@" 2>/dev/null | grep -E '^(on the host|Outputs are|rounds.cu)' || :
  convfilt try rounds.cu --device cpu --json "$@" 2>/dev/null | grep -E '^  "(status|absolute_error|relative_error|of_tolerance)"' || :
}
said
said --tolerance 0.001
said --tolerance 0.0001
said --relative-tolerance 0.2
said --tolerance 0.0001 --relative-tolerance 0.1
try try rounds.cu --tolerance -1
