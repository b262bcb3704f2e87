#!/usr/bin/env bash
# `convfilt try` on a machine with a GPU and nvcc: the four right samples, the three wrong ones and the twenty mutants, each on the host
# and on the GPU. Prints what is said, with the times of the right ones; fails where a verdict is wrong, or the GPU was not used.
#
#   tests/lesson/on_gpu.sh [BUILD]     BUILD: a folder with convfilt, libconvfilt_lesson.a, and its libraries in lib/, as packed for a machine that cannot
#                                      build; by default build/release/bin
#
# Needs nvcc (in PATH, NVCC or /usr/local/cuda/bin), c++ and addr2line. DEVICE names another GPU, such as cuda:1. Some ten minutes.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
die() { echo "tests/lesson/on_gpu.sh: $*" >&2; exit 1; }
bin=$(cd "${1:-build/release/bin}" && pwd) || die "${1:-build/release/bin} is no folder"
[ ! -d "$bin/lib" ] || export LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ ! -e "$bin/libconvfilt_lesson.a" ] || export CONVFILT_MODULES=$bin
export CONVFILT=$bin/convfilt DEVICE=${DEVICE:-cuda}
[ -x "$CONVFILT" ] || die "$CONVFILT is missing"
for tool in c++ addr2line; do command -v $tool >/dev/null || die "$tool is missing; install g++ and binutils"; done
# A packed program finds the runners' sources where it would find installed ones.
lesson=$bin/../share/convfilt/lesson/src/lab/try
[ -e "$lesson/runtime" ] || { mkdir -p "$lesson" && ln -s "$PWD/src/lab/try/runtime" "$lesson/runtime"; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
failed=0
failure() { echo "FAILED  $*"; failed=$((failed + 1)); }

sample() {  # NAME EXIT-CODE: text for people, then JSON
  local status=0
  "$CONVFILT" try "samples/kernels/$1.cu" --device "$DEVICE" >"$work/said" 2>&1 || status=$?
  cat "$work/said"
  echo
  [ $status = "$2" ] || failure "$1: exit code $status, not $2"
  status=0
  "$CONVFILT" try "samples/kernels/$1.cu" --device "$DEVICE" --json >"$work/json" 2>"$work/error" || status=$?
  grep -q '^  "gpu": {' "$work/json" || failure "$1: not tried on the GPU: $(head -n 3 "$work/error")"
  [ "$2" = 1 ] || { grep -q '^        "copies": [0-9]' "$work/json" && grep -q '"name": "cached",' "$work/json"; } ||
    failure "$1: not timed"
}
for name in basic tiled_in tiled_out cached; do sample $name 0; done
for name in missing_barrier halo_off_by_one reads_outside; do sample $name 1; done

# Right on the host, wrong on the GPU, whose threads all are there at once: the host has no other way to see __CUDA_ARCH__.
cat >"$work/differs.cu" <<'KERNEL'
// launch: block 16x16
__constant__ float F[1][1];
__global__ void differs(float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
#ifdef __CUDA_ARCH__
  float weight = 0.5f * F[0][0];
#else
  float weight = F[0][0];
#endif
  out[y * width + x] = weight * in[y * width + x];
}
KERNEL
# What the host says nothing of: an address that no GPU has, and a loop without end.
sed 's/  float weight = 0.5f.*/  float weight = *(volatile float*)8;/' "$work/differs.cu" >"$work/crashes.cu"
sed 's/  float weight = 0.5f.*/  float weight = 0; while (width > 0) weight = *(volatile float*)in;/' "$work/differs.cu" >"$work/endless.cu"
sed 's/  float weight = 0.5f.*/  float weight = nothing;/' "$work/differs.cu" >"$work/words.cu"
only_there() {  # NAME PATTERN
  local status=0
  "$CONVFILT" try "$work/$1.cu" --device "$DEVICE" >"$work/said" 2>&1 || status=$?
  grep -E "$2" "$work/said" || failure "$1: $2 is not said: $(cat "$work/said")"
  [ $status = 1 ] || failure "$1: exit code $status, not 1"
}
only_there differs 'and right on the host$'
only_there crashes 'on the GPU: it crashes: '
only_there endless 'on the GPU: it does not end'
only_there words 'is not compiled by nvcc:'
# Without an nvcc that works the host's verdict holds, and a remark says what is missing; who asks for the GPU gets an error.
NVCC=/nowhere/nvcc "$CONVFILT" try samples/kernels/basic.cu | grep 'remark: it is not tried on the GPU: ' || failure "no remark without nvcc"
! NVCC=/nowhere/nvcc "$CONVFILT" try samples/kernels/basic.cu --device "$DEVICE" >"$work/said" 2>&1 || failure "no error without nvcc"
# One thread of a block alone works, so a picture of 4096x4096 takes long: that is slow, and not wrong.
cat >"$work/slow.cu" <<'KERNEL'
// launch: block 1x1, a block for each 64x64 outputs
__constant__ float F[3][3];
__global__ void slow(float* in, float* out, int width, int height) {
  for (int y = blockIdx.y * 64; y < blockIdx.y * 64 + 64 && y < height; y++)
    for (int x = blockIdx.x * 64; x < blockIdx.x * 64 + 64 && x < width; x++) {
      float sum = 0;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
          if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height) sum += F[j + 1][i + 1] * in[(y + j) * width + x + i];
      out[y * width + x] = sum;
    }
}
KERNEL
"$CONVFILT" try "$work/slow.cu" --device "$DEVICE" | grep -E '^  yours' || failure "slow: exit code ${PIPESTATUS[0]}"
echo

tests/lesson/mutants.sh || failure "mutants"
[ $failed = 0 ] || { echo "try on the GPU: $failed failed"; exit 1; }
echo "try on the GPU: passed"
