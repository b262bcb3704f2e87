# A function that is nowhere is the student's to mend; a library of ours that is broken or missing is not, and there is no verdict.
need_tool c++
need_tool addr2line
cat >helper.cu <<'KERNEL'
// launch: block 8x8
__constant__ float F[1];
__device__ float helper(float sample);
__global__ void a(float* in, float* out, int width, int height) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = F[0] * helper(in[y * width + x]);
}
KERNEL
said() {  # PROGRAM KERNEL WORDS
  local code=0
  env -u CONVFILT_MODULES "$1" try "$2" --device cpu >said 2>&1 || code=$?
  grep -q "$3" said || fail "$2: '$3' is not said: $(cat said)"
  echo "$2: $3: exit $code"
}
[ -e "$(dirname "$CONVFILT")/../lib/convfilt/libconvfilt_lesson.a" ] || skip "the program is packed, not installed or built"
said "$CONVFILT" helper.cu "undefined reference to .helper(float)'"
mkdir -p moved/bin moved/lib/convfilt
cp "$CONVFILT" moved/bin/convfilt
ln -s "$(realpath "$(dirname "$CONVFILT")/../share")" moved/share
echo 'no archive' >moved/lib/convfilt/libconvfilt_lesson.a
said moved/bin/convfilt samples/kernels/basic.cu "kernels are not linked with '.*/moved/lib/convfilt/libconvfilt_lesson.a'"
rm moved/lib/convfilt/libconvfilt_lesson.a
said moved/bin/convfilt samples/kernels/basic.cu "install convfilt again"
