#!/usr/bin/env bash
# Issue 4's targets (tests/targets.txt) beside what this machine's GPU reaches, as two tables.
#
#   tests/targets.sh [BUILD]      BUILD: a folder with convfilt, as tests/gpu.sh takes it (default build/release/bin)
#   tests/put_table.sh targets build/gpu/targets.md
#   tests/put_table.sh targets-points build/gpu/targets-points.md
#
# SIDE of the square picture (default 8192). CONVFILT_OUT (default build/gpu) gets targets.md, a line a target with its
# worst point, targets-points.md, a line a point, and the sweeps' JSON. The line about NPP takes peers.csv from there,
# which tests/peers/gpu.sh writes. Succeeds when all could be measured, whether reached or not; --check as the first
# argument: fails where one is not reached.
set -euo pipefail
cd "$(dirname "$0")/.."
check=false
[ "${1:-}" != --check ] || { check=true; shift; }
bin=${1:-build/release/bin}
side=${SIDE:-8192}
out=${CONVFILT_OUT:-build/gpu}; mkdir -p "$out"
[ -x "$bin/convfilt" ] || { echo "tests/targets.sh: $bin/convfilt is missing; name the folder that has it" >&2; exit 1; }
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

# A line a point: the target's fields, and after them the point's of tests/points.awk.
number=0
: >"$out/targets.points"
while IFS=';' read -r problem depths channels masks sides figure bound; do
  for field in problem depths channels masks sides figure bound; do printf -v "$field" %s "$(trimmed "${!field}")"; done
  number=$((number + 1))
  strategies=auto; [ "$figure" != fft ] || strategies=auto,fft
  mapfile -t options < <(masks_of "$masks" "$sides")
  echo "target $number: $problem" >&2
  convfilt compare --size "${side}x$side" --depth "$depths" --channels "$channels" "${options[@]}" --device cuda \
    --strategies "$strategies" --table brief --json="$out/targets-$number.json" >"$out/targets-$number.txt" ||
    echo "target $number: compare fails; see $out/targets-$number.txt" >&2
  convfilt compare --from "$out/targets-$number.json" --csv | awk -f tests/points.awk |
    awk -v target="$problem;$masks;$figure;$bound" '{ print target ";" $0 }' >>"$out/targets.points"
done < <(grep -v '^#' tests/targets.txt)

peers=/dev/null; [ ! -s "$out/peers.csv" ] || peers=$out/peers.csv
gpu=$(convfilt list devices | sed -n 's/^ *cuda:0 *//p' | head -n 1)
rate=$(sed -n 's/^ *"copy_bytes_per_s": \([0-9.]*\).*/\1/p' "$out"/targets-*.json | sort -n | tail -n 1 |
  awk '{ printf "%.2f TB/s", $1 / 1e12 }')
title="$gpu, ${side}×$side of random samples; the fastest device copy $rate, read and written. Times of \`auto\` as \
multiples of a device copy of the same bytes in the same run, where nothing else is said."
awk -v peers="$peers" -v points="$out/targets-points.md" -v title="$title" -f tests/targets.awk "$out/targets.points" \
  >"$out/targets.md"
cat "$out/targets.md"
[ "$(grep -vc '^#' tests/targets.txt)" = "$(grep -cE '\| (yes|no) \|$' "$out/targets.md")" ] || {
  echo "tests/targets.sh: a target has no point at all" >&2; exit 1; }
! $check || ! grep -q '| no |$' "$out/targets.md"
