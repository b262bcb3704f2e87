#!/usr/bin/env bash
# Issue 4's targets (tests/bench/targets.txt) beside what this machine's GPU reaches, as two tables.
#
#   tests/bench/targets.sh [--check] [BUILD]       BUILD: a folder with convfilt, as tests/gpu.sh takes it (default
#                                            build/release/bin)
#   tests/bench/targets.sh [--check] --from POINTS...
#   tests/bench/put_table.sh targets build/gpu/targets.md
#
# SIDE of the square picture (default 8192). CONVFILT_OUT (default build/gpu) gets targets.md, a line a target with its
# worst point, targets-points.md, a line a point, the sweeps' JSON, and targets-LINES.points. The lines about NPP take
# peers.csv from there, which tests/bench/peers/gpu.sh writes. CONVFILT_TARGETS_LINES=1-12 measures only those targets;
# --from makes the tables of the parts' points, in any order. Succeeds when all could be measured, whether they are
# reached or not; with --check it fails where one is not reached.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/parts.sh"
from=()
check=false
[ "${1:-}" != --check ] || { check=true; shift; }
[ "${1:-}" != --from ] || { shift; take_parts "$@"; }
cd "$(dirname "$0")/../.."
die() { echo "tests/bench/targets.sh: $*" >&2; exit 1; }
bin=${1:-build/release/bin}
side=${SIDE:-8192}
out=${CONVFILT_OUT:-build/gpu}; mkdir -p "$out"
convfilt() { LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$bin/convfilt" "$@"; }

trimmed() { local text=${1#"${1%%[![:space:]]*}"}; echo "${text%"${text##*[![:space:]]}"}"; }
masks_of() {  # KIND SIDES: compare's options
  local kind=$1 one
  case $kind in
    gaussian) for one in ${2//,/ }; do echo "--mask=${one}x$one"; done ;;
    any) echo "--masks=$2 --weights=16bit" | tr ' ' '\n' ;;
    *) echo "--masks=$2 --weights=$kind" | tr ' ' '\n' ;;
  esac
}

# Writes a line a point: the target's number and fields, then the point's fields from tests/bench/points.awk. A comment
# before the lines says what they were measured on.
measure() {  # NUMBER
  local number=$1 problem depths channels masks sides figure bound field strategies options rate
  IFS=';' read -r problem depths channels masks sides figure bound <<<"${targets[number - 1]}"
  for field in problem depths channels masks sides figure bound; do printf -v "$field" %s "$(trimmed "${!field}")"; done
  strategies=auto; [ "$figure" != fft ] || strategies=auto,fft
  mapfile -t options < <(masks_of "$masks" "$sides")
  echo "target $number: $problem" >&2
  rm -f "$out/targets-$number.json"  # an earlier run's must not pass for this one's
  convfilt compare --size "${side}x$side" --depth "$depths" --channels "$channels" "${options[@]}" --device cuda \
    --strategies "$strategies" --patience 0.25 --table brief --json="$out/targets-$number.json" >"$out/targets-$number.txt" ||
    echo "target $number: compare fails; see $out/targets-$number.txt" >&2
  [ -s "$out/targets-$number.json" ] || die "target $number: nothing was measured"
  rate=$(sed -n 's/^ *"copy_bytes_per_s": \([0-9.]*\).*/\1/p' "$out/targets-$number.json" | sort -n | tail -n 1)
  echo "#$gpu;$side;${rate:-0}"
  convfilt compare --from "$out/targets-$number.json" --csv | awk -f tests/bench/points.awk |
    awk -v target="$number;$problem;$masks;$figure;$bound" '{ print target ";" $0 }'
}

mapfile -t targets < <(grep -v '^#' tests/bench/targets.txt)
wanted=${#targets[@]}
if [ ${#from[@]} = 0 ]; then
  [ -x "$bin/convfilt" ] || die "$bin/convfilt is missing; name the folder that has it"
  numbers=$(numbers_of CONVFILT_TARGETS_LINES "${CONVFILT_TARGETS_LINES:-}" "$wanted")
  wanted=$(wc -l <<<"$numbers")
  gpu=$(convfilt list devices | sed -n 's/^ *cuda:0 *//p' | head -n 1)
  [ -n "$gpu" ] || die "no GPU here (convfilt list devices shows none)"
  from=("$out/targets-${CONVFILT_TARGETS_LINES:-all}.points")
  for number in $numbers; do measure "$number"; done >"${from[0]}.new"
  mv "${from[0]}.new" "${from[0]}"
fi

measured_on=$(sed -n 's/^#\(.*;[0-9]*\);[0-9.e+]*$/\1/p' "${from[@]}" | sort -u)
[ -n "$measured_on" ] || die "these are no points of targets: ${from[*]}"
[ "$(wc -l <<<"$measured_on")" = 1 ] || die "the parts are of different machines or pictures: $measured_on"
IFS=';' read -r gpu side <<<"$measured_on"
rate=$(sed -n 's/^#.*;//p' "${from[@]}" | sort -n | tail -n 1 | awk '{ printf "%.2f TB/s", $1 / 1e12 }')
title="$gpu, ${side}×$side of random samples; the fastest device copy $rate, read and written. Times of \`auto\` as \
multiples of a device copy of the same bytes in the same run, unless a line says otherwise."
peers=/dev/null; [ ! -s "$out/peers.csv" ] || peers=$out/peers.csv
cat "${from[@]}" | grep -v '^#' | sort -s -t ';' -n -k 1,1 | cut -d ';' -f 2- |
  awk -v peers="$peers" -v points="$out/targets-points.md" -v title="$title" -f tests/bench/targets.awk >"$out/targets.md"
cat "$out/targets.md"
[ "$wanted" = "$(grep -cE '\| (yes|no) \|$' "$out/targets.md")" ] || die "a target has no point at all"
! $check || ! grep -q '| no |$' "$out/targets.md"
