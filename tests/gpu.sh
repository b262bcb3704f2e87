#!/usr/bin/env bash
# Runs everything on a machine with a GPU: every test, compute-sanitizer's four tools, the benchmarks.
#
#   tests/gpu.sh [BUILD]     BUILD: a folder with convfilt and convfilt_tests, as packed for a
#                            machine that cannot build (with the modules and libconvfilt_lesson.a, lib/, library/ from cmake --install, python/ with the
#                            Python module, and expected/ from tests/same_bytes.sh); by default samples/setup.sh builds the release preset first, for
#                            the GPUs that are here
#
# CONVFILT_GPU_PART: only these of the `steps` below, with commas between, for machines that are lent for minutes;
# `sanitizers` stands for compute-sanitizer's four. auto, peers and targets can be cut further: see their scripts.
# JOBS: processes at a time where nothing is timed, by default the machine's cores. Where there are several GPUs,
# tests/bench/gpus.sh runs the steps side by side. --steps: says which would run.
#
# Fails if there is no GPU, or if a tool is missing. Writes its logs, and the tables for kernels/MEASUREMENTS.md
# (bench_gpu.md, peers.md, race.md, targets.md), to CONVFILT_OUT, by default build/gpu.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
die() { echo "tests/gpu.sh: $*" >&2; exit 1; }
sanitizers="memcheck racecheck initcheck synccheck"
steps="tests cli lesson same-bytes library python folders $sanitizers race peers targets auto bench_gpu counters compare end-to-end"
part=" ${CONVFILT_GPU_PART:-$steps} "
part=${part//,/ }
part=${part/ sanitizers / $sanitizers }
for name in $part; do
  [[ " $steps " == *" $name "* ]] || die "CONVFILT_GPU_PART names $name; the steps are $steps; or say sanitizers"
done
[ "${1:-}" != --steps ] || { xargs <<<"$part"; exit; }
out=${CONVFILT_OUT:-build/gpu}
mkdir -p "$out"

command -v nvidia-smi >/dev/null && nvidia-smi -L | grep GPU >/dev/null || die "no GPU here (nvidia-smi -L shows none)"
command -v compute-sanitizer >/dev/null || die "compute-sanitizer is missing; it comes with the CUDA toolkit"
if [ $# -ge 1 ]; then
  bin=$(cd "$1" && pwd) || die "$1 is no folder"
  [ -d "$bin/lib" ] && export LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
else
  bin=$PWD/build/release/bin
  samples/setup.sh release >"$out/build.log" 2>&1 || die "the build failed: $out/build.log"
fi
# Packed modules lie beside the programs.
[ ! -e "$bin/libconvfilt_opencv.so" ] || export CONVFILT_MODULES=$bin
[ ! -e "$bin/libconvfilt_lesson.a" ] || export CONVFILT_MODULES=$bin
for program in convfilt convfilt_tests; do [ -x "$bin/$program" ] || die "$bin/$program is missing"; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
export CONVFILT=$bin/convfilt CONVFILT_FILTERS=$PWD/filters
# A packed program finds filters, and what a student's kernel is compiled with, where it would find installed ones.
if [ ! -e "$bin/../share/convfilt/filters" ]; then
  mkdir -p "$bin/../share/convfilt" && ln -s "$PWD/filters" "$bin/../share/convfilt/filters"
fi
lesson=$bin/../share/convfilt/lesson/src/lab/try
[ -e "$lesson/runtime" ] || { mkdir -p "$lesson" && ln -s "$PWD/src/lab/try/runtime" "$lesson/runtime"; }

# Every combination of the cases, as in the step cli. The large test cases fill the device's memory, so they run alone.
tests() {
  ALONE='--source-file=*strategies/large.cpp' CONVFILT_TEST_SIZE=full CONVFILT_TEST_LARGE=1 CONVFILT_TEST_DEVICES=cpu,emulator,cuda \
    bash tests/bench/case_by_case.sh "$bin/convfilt_tests" '--source-file-exclude=*strategies/large.cpp'
}
# The cases of a short run, on the GPU alone: a sanitizer makes kernels some 30 times slower, and these
# two some hundred times, so that they get every fourth case. The shared cases' pictures are too
# small for what the fast strategies do inside large ones, so every file of tests/strategies is run but these: their
# cases run the same kernels once more, or none on a GPU.
sanitized() {  # TOOL
  local size=short
  [[ $1 != racecheck && $1 != initcheck ]] || size=least
  local without=" cpu geometry large long_pictures modes separable_tensor_warpgroup transform winograd witness " file files=()
  for file in $without; do
    [ -f "tests/strategies/$file.cpp" ] || { echo "tests/strategies/$file.cpp is no longer there"; return 1; }
  done
  for file in tests/strategies/*.cpp; do
    file=$(basename "$file" .cpp)
    [[ $without == *" $file "* ]] || files+=("*strategies/$file.cpp")
  done
  files+=("*unit/filter/resident.cpp")  # kernels of edges, which are no strategy
  FORWARD=1 CONVFILT_TEST_SIZE=$size CONVFILT_TEST_DEVICES=cuda bash tests/bench/case_by_case.sh "$bin/convfilt_tests" \
    "--source-file=$(IFS=,; echo "${files[*]}")" compute-sanitizer --tool "$1" --error-exitcode 9
}
# The results are compared with what a machine without a GPU made of the same pictures, where that was packed along.
same_bytes() {
  local expected=()
  [ -d "$bin/expected" ] && expected=(EXPECTED="$bin/expected")
  env "${expected[@]}" bash tests/same_bytes.sh
}
# samples/library filters pixels on the GPU in a stream of its own.
library() {
  local work prefix=$bin/library status=0
  work=$(mktemp -d)
  if [ ! -d "$prefix" ]; then
    prefix=$work/prefix
    cmake --install "$bin/.." --prefix "$prefix" || return 1
  fi
  cmake -S samples/library -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/build" &&
    "$work/build/filter" | tee "$work/said" && grep -x 'GPU: the same bytes' "$work/said" || status=1
  rm -r "$work"
  return $status
}
# The module with PyTorch, CuPy and JAX, of which PyTorch must be there.
python() {
  local module=$bin/python
  [ -d "$module" ] || module=$bin/../python
  PYTHONPATH=$module python3 tests/python/on_gpu.py
}
# Folders through nvImageCodec, without the parts memory and sanitizers of tests/folders/on_gpu.sh, which take long.
folders() { bash tests/folders/on_gpu.sh same short damage; }
bench_gpu() {
  "$CONVFILT" compare --size 8192x8192 --mask 3x3 --mask 5x5 --mask 9x9 --mask 15x15 --device cuda --table brief \
    --markdown="$out/bench_gpu_all.md" &&
    awk -F ' *[|] *' '
      /^\| strategy / { print "| u8, Gaussians | 3×3 | 5×5 | 9×9 | 15×15 |\n|---|---:|---:|---:|---:|"; rows = 1; getline; next }
      rows && /^\|/ && !/^\| auto/ { gsub(/ \\\*|refused/, ""); print "| " $2 " | " $4 " | " $5 " | " $6 " | " $7 " |" }' \
      "$out/bench_gpu_all.md" >"$out/bench_gpu.md"
}
# The textbook's kernels beside plain ones of the same names.
race() {
  [ -x "$bin/convfilt_race" ] || cmake --build "$bin/.." --target convfilt_race || return 1
  "$bin/convfilt_race" 2000 >/dev/null && "$bin/convfilt_race" >"$out/race.md" && { echo; "$bin/convfilt_race" 8192 3; } >>"$out/race.md" &&
    cat "$out/race.md"
}
# All strategies on one picture, CONVFILT_PHOTO or noise: drawn elsewhere with convfilt compare --from.
compare() {
  local photo=()
  [ -n "${CONVFILT_PHOTO:-}" ] && photo=("$CONVFILT_PHOTO")
  "$CONVFILT" compare "${photo[@]}" --device cuda --mask 3x3 --mask 9x9 --mask 31x31 --mask 101x101 --json="$out/compare.json"
}
# Where the GPU pays: a whole process on a 12-megapixel picture, on the CPU and on the GPU.
end_to_end() {
  local work device what status=0
  work=$(mktemp -d)
  head -c 36000000 /dev/urandom | { printf 'P6 4000 3000 255\n'; cat; } >"$work/in.ppm"
  for device in cpu cuda; do
    for what in 'blur --sigma 2' 'blur --sigma 40' 'apply motion9'; do
      # shellcheck disable=SC2086  # a command and its options
      "$CONVFILT" $what "$work/in.ppm" "$work/out.ppm" --device=$device -v || status=1
    done
  done
  rm -r "$work"
  return $status
}

# What is shown of a step that passed, from its log.
last_line() { tail -n 1 "$1" | sed 's/^/        /'; }
tables() { grep -E '^(skipped |failed |\|)' "$1"; }
bench_table() { cat "$out/bench_gpu.md"; }
last_table() { tail -n 27 "$1" | cut -c1-150; }
lesson_times() { grep -E '^  (yours|basic|tiled-|cached) ' "$1" | grep -E '\.[0-9]{4} '; tail -n 1 "$1"; }
whole_times() { grep -hE 'strategy|upload|filtered' "$1"; }

passed=() failed=()
step() {  # NAME SHOWN COMMAND...: runs it if it is wanted, keeps its log, remembers a failure
  local name=$1 shown=$2 log=$out/$1.log start=$SECONDS; shift 2
  [[ " $steps " == *" $name "* ]] || die "$name is not among the steps"
  [[ $part == *" $name "* ]] || return 0
  if "$@" >"$log" 2>&1; then
    echo "ok      $name ($((SECONDS - start)) s)"; passed+=("$name"); $shown "$log"
  else
    echo "FAILED  $name ($((SECONDS - start)) s): $log"; failed+=("$name"); tail -n 15 "$log"
  fi
}
step tests last_line tests
step cli last_line env CONVFILT_TEST_SIZE=full bash tests/cli/run.sh
step lesson lesson_times bash tests/lesson/on_gpu.sh "$bin"
step same-bytes last_line same_bytes
step library last_line library
step python last_line python
step folders last_table folders
for tool in $sanitizers; do step "$tool" last_line sanitized "$tool"; done
step race tables race
step peers tables bash tests/bench/peers/gpu.sh "$bin"
step targets tables bash tests/bench/targets.sh "$bin"
step auto last_line bash tests/bench/auto.sh "$bin"
step bench_gpu bench_table bench_gpu
step counters tables bash tests/bench/counters.sh "$bin"
step compare last_table compare
step end-to-end whole_times end_to_end

names() { local IFS=,; local joined="$*"; echo "${joined//,/, }"; }
if [ ${#failed[@]} -gt 0 ]; then echo "GPU: FAILED: $(names "${failed[@]}")"; exit 1; fi
[ ${#passed[@]} = "$(wc -w <<<"$part")" ] || die "only these were done: $(names "${passed[@]}")"
[ ${#passed[@]} = "$(wc -w <<<"$steps")" ] && all="all " || all=
echo "GPU: ${all}passed: $(names "${passed[@]}")"
