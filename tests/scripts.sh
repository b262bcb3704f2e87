#!/usr/bin/env bash
# The scripts around compare that need no GPU: points.awk on what compare writes, auto.awk on points made by hand.
# CONVFILT names the program.
set -euo pipefail
convfilt=${CONVFILT:?names the program}
cd "$(dirname "$0")"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
fail() { echo "tests/scripts.sh: $*" >&2; exit 1; }

"$convfilt" compare --size 64x48,33x20 --depth u8,f32 --masks 3x5 --weights 16bit,rank1 --device cpu \
  --strategies cpu,separable,winograd,fft --csv >"$work/all.csv"
awk -v device=cpu -f points.awk "$work/all.csv" >"$work/points"
[ "$(cut -d' ' -f1-8 "$work/points")" = "64 48 u8 1 16bit 3 5 cpu
64 48 u8 1 rank1 3 5 cpu
64 48 f32 1 16bit 3 5 cpu
64 48 f32 1 rank1 3 5 cpu
33 20 u8 1 16bit 3 5 cpu
33 20 u8 1 rank1 3 5 cpu
33 20 f32 1 16bit 3 5 cpu
33 20 f32 1 rank1 3 5 cpu" ] || fail "these are not the points: $(cat "$work/points")"
awk 'NF != 14 { exit 1 } { for (i = 9; i <= 11; ++i) if ($i !~ /^[0-9.e+-]+$/) exit 1 } $14 !~ /^[0-9]/ { exit 1 }' "$work/points" ||
  fail "a figure is missing: $(cat "$work/points")"
[ -z "$(awk -f points.awk "$work/all.csv")" ] || fail "points of a GPU from a CPU's times"

point() { echo "8 8 u8 1 16bit 3 3 $1 $2 $3 0.5 fast 2.0 9.9"; }
held() { awk -v most=1.10 -f auto.awk >"$work/said"; }
{ point fast 2.0 1.0; point slow 2.1 1.05; } | held || fail "5 % is held to be too slow"
grep -q '^worst of 2 points: 8x8x1 u8, mask 16bit 3x3: auto takes slow, 2.1 copies, 1.050 times' "$work/said" ||
  fail "the worst point is not told: $(cat "$work/said")"
! { point fast 2.0 1.0; point slow 2.4 1.2; } | held || fail "20 % is held to be fast enough"
! { point fast 2.0 1.0; point broken failed -; } | held || fail "a choice without figures is held to be fast enough"
! { point - - -; } | held || fail "a choice that was not measured is held to be fast enough"
! held </dev/null || fail "nothing measured is held to be fast enough"
echo "scripts: points.awk, auto.awk"
