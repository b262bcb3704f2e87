# Out is unset when a kernel begins, unless somebody says that the host clears it, as one that scatters with atomicAdd() needs.
need_tool c++
need_tool addr2line
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
sed 's/block 16x16/block 16x16, out cleared/' scatter.cu >cleared.cu
sed 's/atomicAdd(&\(.*\), \(mask.*\));/\1 += \2;/' cleared.cu >plain.cu
say() { echo "$ $*"; convfilt try "$@" --device cpu 2>&1 | sed '/^$/,$d' || :; }
say scatter.cu
say scatter.cu --clear-out
say cleared.cu
say plain.cu
# A kernel that sets all of it is right either way.
say samples/kernels/basic.cu --clear-out
