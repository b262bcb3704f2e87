#!/usr/bin/env bash
# What auto takes must not be slower than the fastest strategy of its family on its device by more than 10 %, at any
# point of a grid: the problem alone decides the family. Prints the worst point, those beyond the 10 %, and where
# another family is faster; fails where one is beyond. It needs a GPU, and is a step of tests/gpu.sh.
#
#   tests/bench/auto.sh [BUILD]      BUILD: a folder with convfilt, as tests/gpu.sh takes it (default build/release/bin)
#   tests/bench/auto.sh --from POINTS...
#   tests/bench/auto.sh --lines      says how many the grid has
#
# CONVFILT_AUTO_LINES=1-4 measures only those lines of the grid, for machines that are lent for minutes; --from judges
# the points of all parts together. CONVFILT_AUTO_GRID has compare's options instead of the grid. CONVFILT_OUT (default
# build/gpu) gets auto-LINES.points and auto-N.json. CONVFILT_AUTO_DEVICE=cpu holds the CPU's strategies to the same, on
# pieces of those pictures that take over a second.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/parts.sh"
from=()
[ "${1:-}" != --from ] || { shift; take_parts "$@"; }
cd "$(dirname "$0")/../.."
bin=${1:-build/release/bin}
out=${CONVFILT_OUT:-build/gpu}; mkdir -p "$out"
device=${CONVFILT_AUTO_DEVICE:-cuda}
most=1.10
lines=()
for size in 640x480 1920x1080 4096x4096; do
  for depth in u8 u16 f32; do
    # Exact 8-bit weights make a difference only for 8-bit pictures.
    weights=16bit,rank1; [ $depth != u8 ] || weights=16bit,8bit,rank1
    for channels in 1 3; do
      lines+=("--size $size --depth $depth --channels $channels --masks 3,5,7,9,15,23,25,31,47,63 --weights $weights")
    done
    lines+=("--size $size --depth $depth --channels 1,3 --mask 31x31 --mask 101x101 --mask 257x257")
  done
done
[ -z "${CONVFILT_AUTO_GRID:-}" ] || lines=("$CONVFILT_AUTO_GRID")
[ "${1:-}" != --lines ] || { echo "${#lines[@]}"; exit; }

# Writes a line a point. A comment before the points of a line of the grid says which line it is.
measure() {  # NUMBER
  # Little patience: slow strategies take most of the time, and are not near the best. A CPU needs more for whole pictures.
  local patience=0.1; [ "$device" = cuda ] || patience=1
  # shellcheck disable=SC2086  # a line is several words
  "$bin/convfilt" compare ${lines[$1 - 1]} --device "$device" --repeats 51 --patience $patience --json="$out/auto-$1.json" \
    >"$out/auto-$1.txt"
  echo "#$1 of ${#lines[@]}"
  "$bin/convfilt" compare --from "$out/auto-$1.json" --csv | awk -v device="$device" -f tests/bench/points.awk
}
if [ ${#from[@]} = 0 ]; then
  [ -x "$bin/convfilt" ] || { echo "tests/bench/auto.sh: $bin/convfilt is missing" >&2; exit 1; }
  [ ! -d "$bin/lib" ] || export LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  numbers=$(numbers_of CONVFILT_AUTO_LINES "${CONVFILT_AUTO_LINES:-}" ${#lines[@]})
  if [ "$device" = cuda ] && ! "$bin/convfilt" list devices | grep '^ *cuda:0 ' >/dev/null; then
    echo "tests/bench/auto.sh: no GPU here (convfilt list devices shows none)" >&2; exit 1
  fi
  from=("$out/auto-${CONVFILT_AUTO_LINES:-all}.points")
  for number in $numbers; do measure "$number"; done >"${from[0]}.new"
  mv "${from[0]}.new" "${from[0]}"
elif [ "$(grep -h '^#' "${from[@]}" | sort -u | wc -l)" != ${#lines[@]} ]; then
  echo "tests/bench/auto.sh: these are not all ${#lines[@]} lines of the grid" >&2; exit 1
fi
cat "${from[@]}" | grep -v '^#' | awk -v most=$most -f tests/bench/auto.awk
