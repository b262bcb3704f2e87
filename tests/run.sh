#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that this machine can run; ends with ctest's summary.
#
#   tests/run.sh [PRESET]     by default release; asan runs the same tests under AddressSanitizer and UBSan
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
samples/setup.sh "$preset" >/dev/null
status=0
ctest --preset "$preset" -j "$(nproc)" || status=$?
# ctest shows of a test that passed neither what it skipped nor why.
grep '^skipped ' "build/$preset/Testing/Temporary/LastTest.log" || true
exit $status
