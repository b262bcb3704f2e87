# Indices that are negative by their sign, or too small for a wide picture.
need_tool c++
need_tool addr2line
kernel() {  # NAME TYPE INDEX
  cat >"$1.cu" <<KERNEL
// launch: block 16x16
__constant__ float F[3][3];
__global__ void $1(const float* in, float* out, int width, int height) {
  $2 x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  float a = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height) a += F[j + 1][i + 1] * in[$3];
  out[y * width + x] = a;
}
KERNEL
  echo "$1:"
  convfilt try "$1.cu" --device cpu --json 2>/dev/null | sed -n 's/^ *"\(status\|kind\|text\)": /  /p' || :
}
kernel sign int '-((y + j) * width + x + i)'
kernel narrow 'unsigned char' '(y + j) * width + x + i'
