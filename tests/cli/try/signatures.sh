# What a course writes: the book's parameters, blocks in a row, shuffles, atomics; masks have the size of the array, or several sizes
# where the kernel is told.
need_tool c++
need_tool addr2line
body='int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float Pvalue = 0;
  for (int j = -r; j <= r; j++)
    for (int i = -r; i <= r; i++)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height) Pvalue += F[WEIGHT] * N[(y + j) * width + x + i];
  P[y * width + x] = Pvalue;
}'
cat >book.cu <<KERNEL
// launch: block 16x8
__global__ void book(float *N, float *F, float *P, int r, int width, int height) {
  ${body/WEIGHT/(j + r) * (2 * r + 1) + i + r}
KERNEL
cat >constant.cu <<KERNEL
// launch: block 16x8
__constant__ float F[5][5];
__global__ void constant(float *N, float *P, int r, int width, int height) {
  ${body/WEIGHT/j + r][i + r}
KERNEL
cat >row.cu <<'KERNEL'
// launch: block 64
__constant__ float F[9];
__global__ void row(const float* __restrict__ in, float* __restrict__ out, int height, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  int x = i % width, y = i / width;
  float sum = 0;
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 3; k++) {
      int u = x + k - 1, v = y + j - 1;
      if (u >= 0 && u < width && v >= 0 && v < height) sum += F[3 * j + k] * in[v * width + u];
    }
  out[i] = sum;
}
KERNEL
cat >shuffle.cu <<'KERNEL'
// launch: block 32x4, a block for each 28x4 outputs
__constant__ float F[5][5];
__global__ void shuffle(float* in, float* out, int width, int height) {
  int x = blockIdx.x * 28 + threadIdx.x - 2, y = blockIdx.y * 4 + threadIdx.y;
  float sum = 0;
  for (int j = 0; j < 5; j++) {
    int v = y + j - 2;
    float sample = x >= 0 && x < width && v >= 0 && v < height ? in[v * width + x] : 0.0f;
    for (int i = 0; i < 5; i++) sum += F[j][i] * __shfl_sync(0xffffffff, sample, (int)threadIdx.x + i - 2);
  }
  if (threadIdx.x >= 2 && threadIdx.x < 30 && x < width && y < height) out[y * width + x] = sum;
}
KERNEL
cat >scatter.cu <<'KERNEL'
// launch: block 16x16
__global__ void scatter(const float* in, float* out, int width, int height, const float* mask, int mask_width, int mask_height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  for (int j = 0; j < mask_height; j++)
    for (int i = 0; i < mask_width; i++) {
      int u = x - i + mask_width / 2, v = y - j + mask_height / 2;
      if (u >= 0 && u < width && v >= 0 && v < height) atomicAdd(&out[v * width + u], mask[j * mask_width + i] * in[y * width + x]);
    }
}
KERNEL
# A float4 is one access of 16 bytes: a warp of 32 reads 16 sectors, none of which it could spare.
cat >vector.cu <<'KERNEL'
// launch: block 32x1, a block for each 128x1 outputs
__constant__ float F[1][1];
__global__ void vector(float* in, float* out, int width, int height) {
  int x = 4 * (blockIdx.x * 32 + threadIdx.x), y = blockIdx.y;
  if (x + 3 < width && width % 4 == 0) {
    float4 four = *(float4*)&in[y * width + x];
    *(float4*)&out[y * width + x] = make_float4(F[0][0] * four.x, F[0][0] * four.y, F[0][0] * four.z, F[0][0] * four.w);
    return;
  }
  for (int i = x; i < width && i < x + 4; i++) out[y * width + i] = F[0][0] * in[y * width + i];
}
KERNEL
for name in book constant row shuffle; do convfilt try $name.cu --device cpu | head -n 3; done
convfilt try vector.cu --device cpu --json >vector.json
grep -E '"(right|masks)"' vector.json
sed -n '/"block_counts"/,/}/p' vector.json | grep -E 'sectors|bursts|divergent'
try try scatter.cu --device cpu
