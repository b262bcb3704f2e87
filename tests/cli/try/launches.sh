# The launch of main() is judged beside the kernel; what cannot be computed is said, and no right launch is wrong. Static variables and
# too much shared memory are refused with their line, and a far write names its own array, or none.
need_tool c++
need_tool addr2line
ln -s "$(dirname "${BASH_SOURCE[0]}")/../../lesson/homework" homework
said() { { convfilt try "$1" --device cpu 2>&1 || :; } | sed '/^$/,$d;/^nvcc, /d;/^Outputs are off/d' | sed -n "${2:-1},\$p"; }
wrong() { sed -E "$2" homework/$1.cu >$1.cu; echo "$1: $2"; said $1.cu; }  # KERNEL SED
wrong book_const 's/\(width \+ BLOCK_DIM - 1\) \/ BLOCK_DIM/width \/ BLOCK_DIM/'
wrong volume 's/1\.0 \* TILE_WIDTH/TILE_WIDTH/g'
wrong book_tiled 's/<<<grid, block>>>/<<<block, grid>>>/'
wrong launch_helper 's/threads\(BW, BH\)/threads(BH, BW)/'
wrong templated 's/grid\(\(cols \+/grid((swap +/;s/\(rows \+ block/(cols + block/;s/\(swap \+/(rows +/'
wrong launch_fixed 's/grid\(5, 4\)/grid(4, 3)/'
# The launch and the kernel are both wrong.
wrong book_const 's/\(width \+ BLOCK_DIM - 1\) \/ BLOCK_DIM/width \/ BLOCK_DIM/;s/float Pvalue = 0.0f/float Pvalue = 1.0f/'
for name in exact square chosen counted; do said homework/launch_$name.cu 3; done
kernel() { sed "s|// HERE|$2|;s|y \* width + x\] = |$3] = |" >$1.cu <<'KERNEL'
// launch: block 16x16
__constant__ float M[25];
__global__ void f(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  static const int first = 0;
  // HERE
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
        sum += M[(j + 2) * 5 + i + 2] * in[(y + j) * width + x + i];
  out[first + y * width + x] = sum;
}
KERNEL
said $1.cu; }
kernel right '' 'y * width + x'
kernel static 'static float total[2]; total[0] = 0;' 'y * width + x'
kernel shared '__shared__ float big[64][200]; big[threadIdx.y][threadIdx.x] = 0; if (big[threadIdx.y][0] > 0) return;' 'y * width + x'
kernel before '' 'y * width + x - 40000000'
kernel behind '' 'y * width + x + 2000000000'
kernel nowhere '' '(y + 1) * 6000000000ull + x'
