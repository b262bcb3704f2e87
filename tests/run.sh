#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that this machine can run; ends with ctest's summary.
#
#   tests/run.sh [PRESET] [full]     by default release; asan runs the same tests under AddressSanitizer and UBSan
#
# Tests take few of the many combinations of depths, borders, modes and masks: every pair of values. With full they take
# all combinations, which is a matter of half an hour on two cores.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
export CONVFILT_TEST_SIZE=short
[ "${!#}" != full ] || { export CONVFILT_TEST_SIZE=full; set -- "${@:1:$#-1}"; }
preset=${1:-release}
# Without a GPU, kernels are compiled and not run. So the one architecture that all kernels are compiled for stands for all,
# since each takes minutes on two cores, and nvcc does not optimise.
if [ "$preset" = release ]; then
  export CONVFILT_CUDA=${CONVFILT_CUDA:-AUTO}
  if ! nvidia-smi -L 2>/dev/null | grep GPU >/dev/null; then
    export CONVFILT_CUDA_ARCHITECTURES=${CONVFILT_CUDA_ARCHITECTURES:-90-real} CONVFILT_CUDA_QUICK=${CONVFILT_CUDA_QUICK:-ON}
  fi
fi
[ "$preset" != release ] || export CONVFILT_MODULE_PYTHON=true
samples/setup.sh "$preset" >/dev/null
log=build/$preset/Testing/Temporary/LastTest.log
# ctest says neither what a test that passed skipped, nor why: that goes before its summary. The shell gives each line on as
# it comes; awk may hold back what it reads.
# Twice as many tests as there are cores run at once, since many wait for a disk or a child.
ctest --preset "$preset" -j "$(($(nproc) * 2))" | {
  summary=
  while IFS= read -r line || [ -n "$line" ]; do
    if [[ $summary || $line == *'tests passed, '* ]]; then summary+=$line$'\n'; else printf '%s\n' "$line"; fi
  done
  grep -shE '^(skipped|device .* skipped: )' "$log" | awk '!seen[$0]++' || true
  printf '%s' "$summary"
}
