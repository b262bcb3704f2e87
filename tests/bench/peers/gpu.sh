#!/usr/bin/env bash
# NPP, CuPy, PyTorch and OpenCV-CUDA, those that are here, and convfilt, side by side in one run on one GPU: kernel
# times as multiples of a device copy of the same bytes, and every result is checked against a slow sum by the program
# that measured it.
#
#   tests/bench/peers/gpu.sh [BUILD]      BUILD: a folder with convfilt, as tests/gpu.sh takes it (default build/release/bin)
#   tests/bench/peers/gpu.sh --from CSV...
#
# For machines that are lent for minutes, PARTS (default "npp python any rank1", the last two being convfilt's masks) and
# MASKS can be fewer; --from makes peers.csv and peers.md of the parts' peers.csv.
#
# SIDE of the square picture (default 8192), MASKS (default "3 5 7 9 15 31 63"), STRATEGIES of convfilt among which the best
# is looked for (default all of them, which takes minutes; auto is always there). NPP_ROOT: a folder with NPP's include/npp.h
# and lib/ or lib64/; else the CUDA toolkit's is taken, or that of PyPI's nvidia-npp wheel (pip install nvidia-npp).
# CONVFILT_OUT (default build/gpu) gets peers.csv (peer, depth, channels, mask side, copies, difference), peers.md and
# the logs. Fails without a GPU, or where a peer that is here fails.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -uo pipefail
die() { echo "tests/bench/peers/gpu.sh: $*" >&2; exit 1; }
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../parts.sh"
from=()
[ "${1:-}" != --from ] || { shift; take_parts "$@"; }
cd "$(dirname "$0")/../../.." || exit 1
known="npp python any rank1"
parts=" ${PARTS:-$known} "
for part in $parts; do [[ " $known " == *" $part "* ]] || die "PARTS names $part; there are $known"; done
wants() { [[ $parts == *" $1 "* ]]; }
bin=${1:-build/release/bin}
side=${SIDE:-8192}
read -ra masks <<<"${MASKS:-3 5 7 9 15 31 63}"
out=${CONVFILT_OUT:-build/gpu}; mkdir -p "$out"
# The libraries that are packed beside convfilt are for no other program.
run_convfilt() { LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$bin/convfilt" "$@"; }

build_npp() {  # [ROOT]: from that folder's NPP, or the toolkit's
  local flags=(-O3 -std=c++17 -arch=native tests/bench/peers/npp.cu -o "$out/npp") libraries name found
  if [ $# -gt 0 ]; then
    # A wheel has libnppif.so.13, but no libnppif.so.
    libraries=$(cd "$out" && pwd)/npp-libraries; rm -rf "$libraries"; mkdir "$libraries"
    for name in nppif nppc; do
      found=$(find -L "$1" -name "lib$name.so*" | sort | head -n 1)
      [ -n "$found" ] || { echo "no lib$name.so in $1"; return 1; }
      ln -s "$(realpath "$found")" "$libraries/lib$name.so"
    done
    flags+=(-I "$1/include" -L "$libraries" -Xlinker -rpath -Xlinker "$(dirname "$(realpath "$found")")")
  fi
  nvcc "${flags[@]}" -lnppif -lnppc
}
wheels() {  # folders of PyPI's wheels that have NPP
  python3 -c 'import glob, sys
for folder in sys.path:
    for header in glob.glob(folder + "/nvidia/*/include/npp.h"): print(header[:-len("/include/npp.h")])' 2>/dev/null
}
have_npp() {
  command -v nvcc >/dev/null || { echo "nvcc is missing"; return 1; }
  if [ -n "${NPP_ROOT:-}" ]; then build_npp "$NPP_ROOT"; return; fi
  build_npp && return
  local root
  while read -r root; do build_npp "$root" && return; done < <(wheels)
  echo "no NPP: install the CUDA toolkit's, or pip install nvidia-npp, or set NPP_ROOT"
  return 1
}

# Writes the lines of peers.csv, and before them, as a comment, what they were measured on.
measure() {
  echo "#$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1), ${side}×$side"
  if wants npp; then
    if have_npp >"$out/npp-build.log" 2>&1; then "$out/npp" "$side" "${masks[@]}" || failed+=(NPP)
    else echo "skipped NPP: $(tail -n 1 "$out/npp-build.log")" >&2; fi
  fi
  if wants python; then
    if command -v python3 >/dev/null; then
      python3 tests/bench/peers/gpu_peers.py "$side" "${masks[@]}" 2>"$out/gpu-peers.log" || failed+=(Python)
      grep -E '^(skipped|failed) ' "$out/gpu-peers.log" >&2
    else echo "skipped CuPy, PyTorch, OpenCV-CUDA: python3 is missing" >&2; fi
  fi
  # Every strategy runs under any mask. Under masks of rank 1, beside NPP's Gaussians, only auto runs.
  if wants any; then
    sweep peers-any ${STRATEGIES:+--strategies "auto,$STRATEGIES"}
    awk '{ print "convfilt auto," $3 "," $4 "," $6 "," $9 "," $8; print "convfilt best," $3 "," $4 "," $6 "," $13 "," $12 }' \
      "$out/peers-any.points"
  fi
  if wants rank1; then
    sweep peers-rank1 --weights rank1 --strategies auto
    awk '{ print "convfilt auto (rank 1)," $3 "," $4 "," $6 "," $9 "," $8 }' "$out/peers-rank1.points"
  fi
}
sweep() {  # NAME OPTION...: leaves NAME.points
  local name=$1; shift
  run_convfilt compare --size "${side}x$side" --masks "$(IFS=,; echo "${masks[*]}")" --depth u8,u16,f32 --channels 1,3 \
    --device cuda --patience 0.25 --json="$out/$name.json" "$@" >"$out/$name.txt" || failed+=("convfilt $name")
  run_convfilt compare --from "$out/$name.json" --csv | awk -f tests/bench/points.awk >"$out/$name.points"
}

failed=()
if [ ${#from[@]} = 0 ]; then
  command -v nvidia-smi >/dev/null && nvidia-smi -L | grep GPU >/dev/null || die "no GPU here (nvidia-smi -L shows none)"
  [ -x "$bin/convfilt" ] || die "$bin/convfilt is missing; name the folder that has it"
  measure >"$out/peers.csv"
else
  joined=$(cat "${from[@]}") && echo "$joined" >"$out/peers.csv"
fi
title=$(sed -n 's/^#//p' "$out/peers.csv" | sort -u)
[ "$(wc -l <<<"$title")" = 1 ] || die "the parts are of different machines or pictures: $title"
{
  echo "$title: times as multiples of a device copy of the same bytes in the same process"
  grep -v '^#' "$out/peers.csv" |
    awk -v sides="$(grep -v '^#' "$out/peers.csv" | cut -d , -f 4 | sort -nu | tr '\n' ' ')" -f tests/bench/peers/table.awk
} | tee "$out/peers.md"
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
