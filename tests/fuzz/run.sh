#!/usr/bin/env bash
# Fuzzes each codec, the metadata and the masks, and prints what came of it; fails where something was found, which then
# lies in build/fuzz/findings: make it a test beside the others, and mend it.
#
#   tests/fuzz/run.sh [TARGET...]     by default all of tests/fuzz/CMakeLists.txt
#
# FUZZ_SECONDS is the time for each (600), JOBS how many run at once (2). What the unit tests make is what fuzzing begins
# with; CONVFILT names a program that has them beside it, else one is built.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
export FUZZ_SECONDS=${FUZZ_SECONDS:-600}
program=${CONVFILT:-$(samples/setup.sh release convfilt convfilt_tests)}
samples/setup.sh fuzz fuzz >/dev/null
bin=$PWD/build/fuzz/bin findings=$PWD/build/fuzz/findings
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(cd "$bin" && printf '%s\n' fuzz_* | sed 's/^fuzz_//')
for target in "${targets[@]}"; do
  [ -x "$bin/fuzz_$target" ] || { echo "tests/fuzz/run.sh: no target '$target'" >&2; exit 2; }
done
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
rm -rf "$findings"; mkdir -p "$findings" "$work/seeds"
export bin findings work OPENCV_IO_ENABLE_OPENEXR=1
# Pictures are small: without a limit, AddressSanitizer keeps 256 MiB of freed ones.
export ASAN_OPTIONS=quarantine_size_mb=64
export LSAN_OPTIONS=suppressions=$PWD/tests/support/foreign_leaks.txt:print_suppressions=0
CONVFILT_SEEDS=$work/seeds "${program%/*}/convfilt_tests" '--source-file=*tests/unit/picture/*' >"$work/seeds.log" 2>&1 ||
  { tail "$work/seeds.log"; exit 1; }
cp filters/* "$work/seeds/"

fuzz() {  # TARGET
  local malloc=1024
  mkdir "$work/$1"
  # Libraries that are called by these two ask for as much as a hostile file says; what they touch of it is less.
  case $1 in opencv | heif) malloc=4096 ;; esac
  # Libraries chatter, so what they write is thrown away; a finding is run again to hear what it says.
  nice "$bin/fuzz_$1" -max_total_time="$FUZZ_SECONDS" -rss_limit_mb=1024 -malloc_limit_mb=$malloc -timeout=10 \
    -max_len=65536 -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$findings/$1-" "$work/$1" "$work/seeds" >"$work/$1.log" 2>&1 || true
  local files=("$findings/$1"-*) count=0
  if [ -e "${files[0]}" ]; then
    count=${#files[@]}
    cp "$work/$1.log" "$findings/$1.log"
    "$bin/fuzz_$1" -rss_limit_mb=1024 -malloc_limit_mb=$malloc -timeout=10 "${files[0]}" >>"$findings/$1.log" 2>&1 || true
  fi
  awk -v target="$1" -v count="$count" '
    match($0, /cov: [0-9]+/) { edges = substr($0, RSTART + 5, RLENGTH - 5) }
    match($0, /corp: [0-9]+/) { corpus = substr($0, RSTART + 6, RLENGTH - 6) }
    /^stat::number_of_executed_units/ { runs = $2 }
    /^stat::slowest_unit_time_sec/ { slowest = $2 }
    /^stat::peak_rss_mb/ { peak = $2 }
    END { printf "| %s | %s | %s | %s | %s | %s | %s |\n", target, runs, edges, corpus, count, slowest, peak }' "$work/$1.log"
}
export -f fuzz
echo "| target | executions | edges covered | corpus | findings | slowest, s | peak MiB |"
echo "|---|---|---|---|---|---|---|"
printf '%s\n' "${targets[@]}" | xargs -P "${JOBS:-2}" -I{} bash -c 'fuzz {}'
found=$(find "$findings" -type f ! -name '*.log')
[ -z "$found" ] || { echo "found, with the logs beside them:"; echo "$found"; exit 1; }
