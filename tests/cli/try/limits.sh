# A kernel that sleeps, stops itself, starts processes, takes memory or kills the program that tries it gets a sentence, soon.
need_tool c++
need_tool addr2line
# A busy machine compiles slowly, so that seconds count from there on.
cat >compiler <<'COMPILER'
#!/bin/sh
c++ "$@"
code=$?
date +%s >compiled
exit $code
COMPILER
chmod +x compiler
export CXX=$PWD/compiler
kernel() {
  cat >"$1.cu" <<KERNEL
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
// launch: block 1x1
__constant__ float F[1][1];
__global__ void $1(float* in, float* out, int width, int height) {
  int x = blockIdx.x, y = blockIdx.y;
  $2
  out[y * width + x] = F[0][0] * in[y * width + x];
}
KERNEL
  # Compilers differ in the line that they give a loop without end.
  try try $1.cu --device cpu | sed -n '2p; s/^sleeps.cu:[0-9]*:/sleeps.cu:/; /^[a-z]*[.]cu/p'
  seconds=$(($(date +%s) - $(cat compiled)))
  [ $seconds -lt 40 ] || fail "$1 has its verdict after $seconds s"
}
kernel sleeps 'for (;;) usleep(1000);'
kernel stops 'raise(SIGSTOP);'
kernel forks 'fork();'
kernel shells 'system("sleep 86398 &");'
kernel kills 'kill(getppid(), SIGKILL);'
# It has 1 GiB, and ends where it gets more.
kernel fills 'int got = 0;
  for (; got < 1500; ++got) {
    char* p = (char*)malloc(1 << 20);
    if (!p) break;
    for (int i = 0; i < 1 << 20; i += 4096) p[i] = 1;
  }
  if (got > 1024) _exit(1);'
if grep -lz 86398 /proc/[0-9]*/cmdline 2>/dev/null; then fail 'a process of the kernel lives on'; fi
