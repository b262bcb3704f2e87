#!/usr/bin/env bash
# What the kernels that auto takes keep busy, by the profiler's counters (ncu), as a table.
#
#   tests/bench/counters.sh [BUILD]        BUILD: a folder with convfilt, as tests/gpu.sh takes it (default build/release/bin)
#
# SIDE of the square picture (default 8192). CONVFILT_OUT (default build/gpu) gets counters.md, a line a problem of
# tests/bench/counters.txt, or only of those that CONVFILT_COUNTERS_LINES names (1-3). A line is about the longest of
# the problem's first launches, so of several kernels it shows the one that takes longest. Fails where ncu is missing or
# gives no counters.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/parts.sh"
cd "$(dirname "$0")/../.."
die() { echo "tests/bench/counters.sh: $*" >&2; exit 1; }
bin=${1:-build/release/bin}
side=${SIDE:-8192}
out=${CONVFILT_OUT:-build/gpu}; mkdir -p "$out"
[ -x "$bin/convfilt" ] || die "$bin/convfilt is missing; name the folder that has it"
command -v ncu >/dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v ncu >/dev/null || die "ncu is missing; install NVIDIA Nsight Compute"
LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$bin/convfilt" list devices | grep '^ *cuda:0 ' >/dev/null ||
  die "no GPU here (convfilt list devices shows none)"

peak=pct_of_peak_sustained_active
metrics=(gpu__time_duration.sum smsp__issue_active.avg."$peak" sm__inst_executed_pipe_alu.avg."$peak"
  sm__inst_executed_pipe_fmaheavy.avg."$peak" sm__inst_executed_pipe_fma.avg."$peak"
  sm__pipe_tensor_op_imma_cycles_active.avg."$peak" l1tex__data_pipe_lsu_wavefronts_mem_shared.avg."$peak"
  lts__throughput.avg.pct_of_peak_sustained_elapsed dram__throughput.avg.pct_of_peak_sustained_elapsed
  sm__warps_active.avg."$peak")
problems() {
  local all number
  mapfile -t all < <(grep -v '^#' tests/bench/counters.txt)
  for number in $(numbers_of CONVFILT_COUNTERS_LINES "${CONVFILT_COUNTERS_LINES:-}" ${#all[@]}); do
    echo "${all[number - 1]}"
  done
}
profile() {  # DEPTH CHANNELS MASKS SIDE
  local masks=("--masks=$4" "--weights=${3/any/16bit}")
  [ "$3" != gaussian ] || masks=("--mask=${4}x$4")
  LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ncu --clock-control none --csv --page raw \
    --print-units base --launch-count 8 --metrics "$(IFS=,; echo "${metrics[*]}")" "$bin/convfilt" compare \
    --size "${side}x$side" --depth "$1" --channels "$2" "${masks[@]}" --device cuda \
    --strategies auto --repeats 3 2>"$out/counters.log"
}
{
  echo "ncu, ${side}×$side of random samples: in percent of the peak while a multiprocessor works, memory while the kernel runs."
  echo
  echo "| depth | channels | mask | kernel | µs | issue | integer pipe | heavy fma pipe | fma pipes | tensor pipe | shared memory | L2 | memory | warps |"
  echo "|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
  problems | while IFS=';' read -r depth channels masks size; do
    echo "counters: $depth $channels $masks $size" >&2
    profile "$depth" "$channels" "$masks" "$size" </dev/null | awk -F'","' -v names="${metrics[*]}" \
      -v problem="| $depth | $channels | $masks ${size}×$size |" '
      /^"ID"/ { count = split(names, name, " "); for (k = 1; k <= NF; ++k) { gsub(/"/, "", $k); column[$k] = k } next }
      column[name[1]] && $1 ~ /^"[0-9]/ {
        gsub(/[",]/, "", $column[name[1]])
        if ($column[name[1]] + 0 <= longest) next
        longest = $column[name[1]] + 0
        kernel = $column["Kernel Name"]; sub(/^void /, "", kernel); sub(/[<(].*/, "", kernel); sub(/.*::/, "", kernel)
        line = sprintf("%s %s | %.0f |", problem, kernel, longest / 1000)
        for (k = 2; k <= count; ++k) { gsub(/[",]/, "", $column[name[k]]); line = line sprintf(" %.0f |", $column[name[k]]) }
      }
      END { if (line) print line }' || true  # told below, of all that have none
  done
} >"$out/counters.md.new"
cat "$out/counters.md.new"
[ "$(grep -c '^| [uf]' "$out/counters.md.new")" = "$(problems | wc -l)" ] ||
  die "some problems have no counters; see $out/counters.log, which is of the last"
mv "$out/counters.md.new" "$out/counters.md"
