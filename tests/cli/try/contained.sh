# What a kernel starts ends with it, what it writes as our report is none, and a signal leaves no folder and no process behind.
need_tool c++
need_tool addr2line
export TMPDIR=$PWD/scratch
mkdir scratch
kernel() {
  cat >"$1.cu" <<KERNEL
#include <unistd.h>
#include <signal.h>
// launch: block 1x1
__constant__ float F[1][1];
__global__ void $1(float* in, float* out, int width, int height) {
  int x = blockIdx.x, y = blockIdx.y;
  $2
  out[y * width + x] = F[0][0] * in[y * width + x];
}
KERNEL
}
kernel forks 'if (x == 0 && y == 0 && fork() == 0) { setsid(); if (fork() == 0) execlp("sleep", "sleep", "86397", (char*)0); pause(); }'
convfilt try forks.cu --device cpu >said || echo "exit $?"
grep -o 'it starts another process' said
if grep -lz 86397 /proc/[0-9]*/cmdline 2>/dev/null; then fail 'a process of the kernel lives on'; fi
kernel spoofs 'for (int i = 3; x == 2 && i < 9; i++) { dprintf(i, "done 1\n"); dprintf(i, "error spoofed\n"); } if (x == 2) _exit(0);'
convfilt try spoofs.cu --device cpu >said || echo "exit $?"
grep -o 'it ended without a result' said
# An endless kernel, and a compiler at work, end with the program.
kernel endless 'while (width > 0) out[0] = in[0];'
for when in kernel.cu program; do
  "$CONVFILT" try endless.cu --device cpu >said 2>&1 & pid=$!
  for _ in $(seq 600); do [ -z "$(find scratch -name "$when")" ] || break; sleep 0.1; done
  kill -TERM $pid
  wait $pid || echo "exit $?"
  ls scratch
done
sleep 1
if grep -lz "$PWD/scratch" /proc/[0-9]*/cmdline 2>/dev/null; then fail 'a process lives on'; fi
