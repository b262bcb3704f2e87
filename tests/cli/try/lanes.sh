# A shuffle gives nothing of a lane that takes no part in it. That matters where the value is used.
need_tool c++
need_tool addr2line
kernel() {  # NAME BLOCK BODY
  cat >"$1.cu" <<KERNEL
// launch: block $2, a block for each 28x4 outputs
__constant__ float F[5][5];
__global__ void $1(float* in, float* out, int width, int height) {
  int x = blockIdx.x * 28 + threadIdx.x - 2, y = blockIdx.y * 4 + threadIdx.y;
  float sum = 0;
  bool writes = threadIdx.x >= 2 && threadIdx.x < 30 && x < width && y < height;
  $3
  if (writes) out[y * width + x] = sum;
}
KERNEL
}
say() {
  echo "$1:"
  convfilt try "$1.cu" --device cpu --json 2>/dev/null | sed -n 's/^ *"\(status\|kind\|text\)": /  /p' || :
}
sum='for (int j = 0; j < 5; j++) {
    int v = y + j - 2;
    float sample = x >= 0 && x < width && v >= 0 && v < height ? in[v * width + x] : 0.0f;
    for (int i = 0; i < 5; i++) sum += F[j][i] * __shfl_sync(0xffffffff, sample, (int)threadIdx.x + i - 2);
  }'
kernel all 32x4 "$sum"
kernel some 32x4 "if (writes) $sum"
for name in all some; do say $name; done
# The last lanes are not there, and nobody uses what they have.
kernel unused 24x4 "sum = __shfl_down_sync(0xffffffff, sum, 4); sum = 0; $(sed 's/__shfl_sync([^)]*)[^)]*)/(x + i - 2 >= 0 \&\& x + i - 2 < width \&\& v >= 0 \&\& v < height ? in[v * width + x + i - 2] : 0)/' <<<"$sum")"
sed -i 's/28x4 outputs/20x4 outputs/;s/\* 28/* 20/;s/< 30/< 22/' unused.cu
say unused
