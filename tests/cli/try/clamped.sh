# Wrong outputs are told with what they are and what they should be, and what clamps them is not the test for ghost cells.
need_tool c++
need_tool addr2line
kernel() {  # NAME VALUE
  cat >"$1.cu" <<KERNEL
// launch: block 16x16
__constant__ float F[3][3];
__global__ void $1(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  float a = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height) a += F[j + 1][i + 1] * in[(y + j) * width + x + i];
  out[y * width + x] = $2;
}
KERNEL
  echo "$1:"
  convfilt try "$1.cu" --device cpu --json 2>/dev/null | sed -n 's/^ *"\(kind\|text\)": /  /p' || :
}
kernel to_bytes 'a > 255 ? 255 : (a < 0 ? 0 : a)'
kernel left 'x == 0 && y > 3 ? 7 : a'
kernel border 'x == 0 || y == 0 ? 7 : a'
kernel tiles 'x % 16 == 15 && y % 5 == 3 ? a + 1 : a'
