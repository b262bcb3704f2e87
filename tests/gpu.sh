#!/usr/bin/env bash
# Everything on a machine with a GPU: every test, compute-sanitizer's four tools, the benchmarks.
#
#   tests/gpu.sh [BUILD]     BUILD: a folder with convfilt and convfilt_tests, as packed for a
#                            machine that cannot build (with lib/, and expected/ from tests/same_bytes.sh); by default
#                            the release preset is built first
#
# CONVFILT_GPU_PART=tests, =sanitizers or =peers does one part: for machines that are lent for minutes. tests: the tests,
# the benchmark, and that auto is as fast as the best (tests/auto.sh). peers: other libraries beside convfilt
# (tests/peers/gpu.sh), and the targets beside what was measured (tests/targets.sh).
#
# Fails if there is no GPU, or if a tool is missing. Writes its logs, and the tables for README
# (bench_gpu.md, peers.md, targets.md), to CONVFILT_OUT, by default build/gpu.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${CONVFILT_OUT:-build/gpu}
mkdir -p "$out"
failed=()
die() { echo "tests/gpu.sh: $*" >&2; exit 1; }
step() {  # NAME COMMAND...: runs, keeps the log, remembers a failure
  local name=$1 start=$SECONDS; shift
  if "$@" >"$out/$name.log" 2>&1; then echo "ok      $name ($((SECONDS - start)) s)"
  else echo "FAILED  $name ($((SECONDS - start)) s): $out/$name.log"; tail -n 15 "$out/$name.log"; failed+=("$name"); fi
}

command -v nvidia-smi >/dev/null && nvidia-smi -L | grep -q GPU || die "no GPU here (nvidia-smi -L shows none)"
command -v compute-sanitizer >/dev/null || die "compute-sanitizer is missing; it comes with the CUDA toolkit"
if [ $# -ge 1 ]; then
  bin=$(cd "$1" && pwd) || die "$1 is no folder"
  [ -d "$bin/lib" ] && export LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
else
  bin=$PWD/build/release/bin
  cmake --preset release >"$out/configure.log" 2>&1 && cmake --build --preset release -j "$(nproc)" >"$out/build.log" 2>&1 ||
    die "the build failed: $out/configure.log, $out/build.log"
fi
for program in convfilt convfilt_tests; do [ -x "$bin/$program" ] || die "$bin/$program is missing"; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
export CONVFILT_FILTERS=$PWD/filters

part=${CONVFILT_GPU_PART:-all}
case $part in all | tests | sanitizers | peers) ;; *) die "CONVFILT_GPU_PART=$part: say tests, sanitizers, peers or all" ;; esac
wants() { [ "$part" = all ] || [ "$part" = "$1" ]; }

if wants tests; then
step tests env CONVFILT_TEST_LARGE=1 CONVFILT_TEST_DEVICES=cpu,emulator,cuda "$bin/convfilt_tests"
step cli env CONVFILT="$bin/convfilt" bash tests/cli/run.sh
expected=()  # what a machine without a GPU made of the same pictures, where it was packed along
[ -d "$bin/expected" ] && expected=(EXPECTED="$bin/expected")
step same-bytes env CONVFILT="$bin/convfilt" "${expected[@]}" bash tests/same_bytes.sh
tail -n 1 "$out/same-bytes.log"

fi
if wants sanitizers; then
# The tests' small selection, on the GPU alone: the sanitizer makes kernels some 30 times slower. Nothing is timed here,
# so every test case is a process of its own, and many run at a time.
checked="--source-file=*test_strategies*,*test_properties*"
cases=$("$bin/convfilt_tests" "$checked" --count | sed -n 's/.*filters: *//p')
sanitize() {  # TOOL CASE
  local log="$out/$1.$2"
  CONVFILT_TEST_SIZE=small CONVFILT_TEST_DEVICES=cuda compute-sanitizer --tool "$1" --error-exitcode 9 \
    "$bin/convfilt_tests" "$checked" --first="$2" --last="$2" --duration=true >"$log" 2>&1
  local rc=$?
  [ $rc = 0 ] && [ "$(grep -cE '^[0-9.]+ s: ' "$log")" != 1 ] && rc="0, but not one test case was run"
  echo "test case $2 under $1: exit status $rc" >>"$log"
}
sanitized() {  # TOOL: what its processes wrote, with their sums below
  local k sums
  for ((k = 1; k <= cases; ++k)); do cat "$out/$1.$k"; rm "$out/$1.$k"; done >"$out/$1.cases"
  sums=$(awk '/^\(strategy, device, case\)/ { runs += $4; refusals += $6 }
    /ERROR SUMMARY:/ { errors += $4 } /RACECHECK SUMMARY:/ { errors += $4 } /: exit status 0$/ { ++passed }
    END { print passed + 0, runs + 0, refusals + 0, errors + 0 }' "$out/$1.cases")
  cat "$out/$1.cases"; rm "$out/$1.cases"
  read -r passed runs refusals errors <<<"$sums"
  echo "$passed of $cases test cases passed: $runs runs, $refusals expected refusals, $errors errors or hazards"
  [ "$cases" -gt 0 ] && [ "$passed" = "$cases" ] && [ "$errors" = 0 ] && [ "$runs" -gt 0 ]
}
export -f sanitize
export bin out checked
start=$SECONDS
for tool in racecheck initcheck memcheck synccheck; do  # the slowest tool first, and its slowest cases
  for ((k = cases; k > 0; --k)); do echo "$tool $k"; done
done | xargs -P "$(nproc)" -L 1 bash -c 'sanitize "$1" "$2"' sanitize
for tool in memcheck racecheck initcheck synccheck; do
  step "$tool" sanitized "$tool"
  echo "        $(tail -n 1 "$out/$tool.log")"
done
echo "        the four together: $((SECONDS - start)) s"

fi
if wants peers; then
step peers bash tests/peers/gpu.sh "$bin"
grep -E '^(skipped|failed) ' "$out/peers.log"
step targets bash tests/targets.sh "$bin"
cat "$out/peers.md" "$out/targets.md"

fi
if wants tests; then
step auto bash tests/auto.sh "$bin"
tail -n 1 "$out/auto.log"
step bench_gpu "$bin/convfilt" compare --size 8192x8192 --mask 3x3 --mask 5x5 --mask 9x9 --mask 15x15 --device cuda \
  --table brief --markdown="$out/bench_gpu.md"
sed -i 's/^## \(.*\)/**\1**/' "$out/bench_gpu.md"  # it stands under README's own headings
# All strategies on one picture, CONVFILT_PHOTO or noise: drawn elsewhere with convfilt compare --from.
photo=(); [ -n "${CONVFILT_PHOTO:-}" ] && photo=("$CONVFILT_PHOTO")
step compare "$bin/convfilt" compare "${photo[@]}" --mask 3x3 --mask 9x9 --mask 31x31 --mask 101x101 --json="$out/compare.json"
# Where the GPU pays: a whole process on a 12-megapixel picture, on the CPU and on the GPU.
step end-to-end bash -c "set -e; head -c 36000000 /dev/urandom | { printf 'P6 4000 3000 255\n'; cat; } >'$out/in.ppm'
  for device in cpu cuda; do for what in 'blur --sigma 2' 'blur --sigma 40' 'apply motion9'; do
    '$bin/convfilt' \$what '$out/in.ppm' '$out/out.ppm' --device=\$device -v; done; done"
grep -hE 'strategy|upload|filtered' "$out/end-to-end.log"; rm -f "$out"/in.ppm "$out"/out.ppm
cat "$out/bench_gpu.md"
tail -n 27 "$out/compare.log" | cut -c1-150
grep -hE 'test cases:|assertions:' "$out/tests.log"
tail -n 4 "$out/cli.log"
fi
if [ ${#failed[@]} -gt 0 ]; then echo "GPU: FAILED: ${failed[*]}"; exit 1; fi
case $part in
  all) echo "GPU: all passed: tests, cli, same-bytes, memcheck, racecheck, initcheck, synccheck, auto, compare, benchmarks, peers" ;;
  tests) echo "GPU: passed without the sanitizers and the peers: tests, cli, same-bytes, auto, compare, benchmarks" ;;
  peers) echo "GPU: passed: peers, targets" ;;
  sanitizers) echo "GPU: passed: memcheck, racecheck, initcheck, synccheck" ;;
esac
