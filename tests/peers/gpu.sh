#!/usr/bin/env bash
# NPP, CuPy, PyTorch and OpenCV-CUDA, those that are here, and convfilt, side by side in one run on one GPU: kernel
# times as multiples of a device copy of the same bytes, every result checked against a slow sum by who measured it.
#
#   tests/peers/gpu.sh [BUILD]      BUILD: a folder with convfilt, as tests/gpu.sh takes it (default build/release/bin)
#
# SIDE of the square picture (default 8192), MASKS (default "3 5 7 9 15 31"), STRATEGIES of convfilt among which the best
# is looked for (default all of them, which takes minutes; auto is always there). NPP_ROOT: a folder with NPP's include/npp.h
# and lib/ or lib64/; else the CUDA toolkit's is taken, or that of PyPI's nvidia-npp wheel (pip install nvidia-npp).
# CONVFILT_OUT (default build/gpu) gets peers.csv (peer, depth, channels, mask side, copies, difference), peers.md and
# the logs. Fails without a GPU, or where a peer that is here fails.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
die() { echo "tests/peers/gpu.sh: $*" >&2; exit 1; }
bin=${1:-build/release/bin}
side=${SIDE:-8192}
read -ra masks <<<"${MASKS:-3 5 7 9 15 31}"
out=${CONVFILT_OUT:-build/gpu}; mkdir -p "$out"
command -v nvidia-smi >/dev/null && nvidia-smi -L | grep -q GPU || die "no GPU here (nvidia-smi -L shows none)"
[ -x "$bin/convfilt" ] || die "$bin/convfilt is missing; name the folder that has it"
# The libraries packed beside it are not for the others.
run_convfilt() { LD_LIBRARY_PATH="$bin/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$bin/convfilt" "$@"; }

build_npp() {  # [ROOT]: from that folder's NPP, or the toolkit's
  local flags=(-O3 -std=c++17 -arch=native tests/peers/npp.cu -o "$out/npp") libraries name found
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

failed=()
: >"$out/peers.csv"
if have_npp >"$out/npp-build.log" 2>&1; then
  "$out/npp" "$side" "${masks[@]}" >>"$out/peers.csv" || failed+=(NPP)
else
  echo "skipped NPP: $(tail -n 1 "$out/npp-build.log")"
fi
if command -v python3 >/dev/null; then
  python3 tests/peers/gpu_peers.py "$side" "${masks[@]}" >>"$out/peers.csv" 2>"$out/gpu-peers.log" || failed+=(Python)
  grep -E '^(skipped|failed) ' "$out/gpu-peers.log"
else
  echo "skipped CuPy, PyTorch, OpenCV-CUDA: python3 is missing"
fi

# Every strategy under any mask; what auto does with those of rank 1, beside NPP's Gaussians.
sweep() {  # NAME OPTION...
  local name=$1; shift
  run_convfilt compare --size "${side}x$side" --masks "$(IFS=,; echo "${masks[*]}")" --device cuda --json="$out/$name.json" \
    "$@" >"$out/$name.txt" || failed+=("convfilt $name")
  run_convfilt compare --from "$out/$name.json" --csv | awk -f tests/points.awk
}
{
  sweep peers-any --depth u8,u16,f32 --channels 1,3 ${STRATEGIES:+--strategies "auto,$STRATEGIES"}
  sweep peers-rank1 --depth u8,u16,f32 --channels 1,3 --weights rank1 --strategies auto
} >"$out/peers.points"
awk '
  $5 == "rank1" { print "convfilt auto (rank 1)," $3 "," $4 "," $6 "," $9 "," $8; next }
  { print "convfilt auto," $3 "," $4 "," $6 "," $9 "," $8; print "convfilt best," $3 "," $4 "," $6 "," $13 "," $12 }
' "$out/peers.points" >>"$out/peers.csv"

{
  echo "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1), ${side}×$side, one run: times as multiples of" \
    "a device copy of the same bytes"
  awk -v sides="${masks[*]}" -f tests/peers/table.awk "$out/peers.csv"
} | tee "$out/peers.md"
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
