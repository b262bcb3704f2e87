#!/usr/bin/env bash
# What auto takes must not be slower than the fastest strategy on its device by more than 10 %, at any point of a grid.
# Prints the worst point and those beyond; fails where there is one. For a machine with a GPU; part of tests/gpu.sh.
#
#   tests/auto.sh [BUILD]      BUILD: a folder with convfilt, as tests/gpu.sh takes it (default build/release/bin)
#
# CONVFILT_AUTO_GRID: compare's options of the grid instead of the default below. CONVFILT_OUT: where auto.json is
# left (default build/gpu). CONVFILT_AUTO_DEVICE=cpu holds the CPU's strategies to the same.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-build/release/bin}
out=${CONVFILT_OUT:-build/gpu}; mkdir -p "$out"
device=${CONVFILT_AUTO_DEVICE:-cuda}
most=1.10
[ -x "$bin/convfilt" ] || { echo "tests/auto.sh: $bin/convfilt is missing" >&2; exit 1; }
[ ! -d "$bin/lib" ] || export LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
grid=${CONVFILT_AUTO_GRID:---size 1920x1080,4096x4096 --depth u8,u16,f32 --channels 1,3 --masks 3,5,9,15,31,63 --weights 16bit,rank1}

# A few runs a row: the slow strategies, which take most of the time, are not near the best.
# shellcheck disable=SC2086  # the grid is several words
"$bin/convfilt" compare $grid --device "$device" --repeats 11 --json="$out/auto.json" >"$out/auto.txt"
"$bin/convfilt" compare --from "$out/auto.json" --csv | awk -v device="$device" -f tests/points.awk >"$out/auto.points"
awk -v most=$most -f tests/auto.awk "$out/auto.points"
