# A mask whose size nobody says: a kernel is judged by the size for which it is right, and told which. A mask that does not fit a fixed
# array is refused.
need_tool c++
need_tool addr2line
kernel() {  # NAME FILE'S-HEAD PARAMETERS RADIUS WEIGHT
  cat >"$1.cu" <<KERNEL
// launch: block 8x8
$2
__global__ void $1(const float* in, float* out, int width, int height$3) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, r = $4;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = -r; j <= r; j++)
    for (int i = -r; i <= r; i++)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height) sum += $5 * in[(y + j) * width + x + i];
  out[y * width + x] = sum;
}
KERNEL
}
say() { echo "$ $*"; convfilt try "$@" --device cpu 2>&1 | sed '/^$/,$d' || :; }
kernel three '' ', const float* mask' 1 'mask[(j + 1) * 3 + i + 1]'
kernel nine '' ', const float* mask' 4 'mask[(j + 4) * 9 + i + 4]'
kernel largest '__constant__ float F[15][15];' '' 2 'F[j + 2][i + 2]'
kernel packed '__constant__ float F[121];' '' 1 'F[(j + 1) * 3 + i + 1]'
kernel off '__constant__ float F[5][5];' '' 2 'F[j + 2][i + 2]'
sed -i 's/(y + j) \* width + x + i\]/(y + j + 1) * width + x + i + 1]/;s/x + i >= 0 .* y + j < height/x + i + 1 >= 0 \&\& x + i + 1 < width \&\& y + j + 1 >= 0 \&\& y + j + 1 < height/' off.cu
kernel plus_one '' ', const float* mask' 1 '1 + mask[(j + 1) * 3 + i + 1]'
for name in three nine largest packed off plus_one; do say $name.cu; done
# A tile that has room for 3x3, of a kernel that is told the size; and a radius that stands fixed in one.
cat >room.cu <<'KERNEL'
// launch: block 16x16
__global__ void room(const float* in, float* out, int width, int height, const float* mask, int mask_width) {
  __shared__ float tile[18 * 18];
  int n = mask_width, r = n / 2, side = 16 + 2 * r;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < side * side; k += 256) {
    int x = blockIdx.x * 16 - r + k % side, y = blockIdx.y * 16 - r + k / side;
    tile[k] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0.0f;
  }
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) sum += mask[j * n + i] * tile[(threadIdx.y + j) * side + threadIdx.x + i];
  out[y * width + x] = sum;
}
KERNEL
kernel fixed '' ', const float* mask, int mask_width' 1 'mask[(j + 1) * 3 + i + 1]'
for name in room fixed; do say $name.cu; done
# The first is for 5x5 alone; the others take a smaller one, too.
for mask in '--mask sobel_x' '--mask gaussian3' '--mask-size 3x3' '--mask-size 5x1' '--mask-size 33x33' '--mask-size 7x5'; do
  # shellcheck disable=SC2086  # two words
  try try samples/kernels/basic.cu --device cpu $mask
done
say largest.cu --mask-size 5x5
try try largest.cu --device cpu --mask-size 3x3
try try packed.cu --device cpu --mask-size 13x13
say three.cu --mask-size 3x3
