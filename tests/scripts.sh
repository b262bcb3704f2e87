#!/usr/bin/env bash
# The scripts around compare that need no GPU: points.awk on what compare writes, the others on points made by
# hand.
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
tabled() { awk -v peers="$work/peers.csv" -v points="$work/all.md" -v title=Title -f targets.awk >"$work/targets.md"; }
echo "NPP FilterBorder,u8,1,3,4.0,0.5" >"$work/peers.csv"
{
  echo "reached;any;copies;2.5;$(point fast 2.0 1.0)"; echo "reached;any;copies;2.5;$(point slow 2.5 1.25)"
  echo "missed;8bit;copies;2.5;$(point fast 2.0 1.0)"; echo "missed;8bit;copies;2.5;$(point slow 2.6 1.25)"
  echo "failed;any;copies;99;$(point broken failed -)"
  echo "roof;any;roof;50;$(point fast 2.0 1.0)"; echo "high roof;any;roof;51;$(point fast 2.0 1.0)"
  echo "cuFFT;any;fft;0.2;$(point fast 2.0 1.0)"; echo "NPP;any;npp;1;$(point fast 2.0 1.0)"
  echo "no NPP;any;npp;1;$(point fast 2.0 1.0 | sed 's/u8 1/u8 3/')"
} | tabled
expected="Title

| problem | target | measured, the worst point | where | reached |
|---|---:|---:|---|---|
| reached | ≤ 2.5 | 2.50 | u8, 1 channel, 3×3, slow | yes |
| missed | ≤ 2.5 | 2.60 | u8, 1 channel, 3×3, slow | no |
| failed | ≤ 99 | not measured | u8, 1 channel, 3×3, broken | no |
| roof | ≥ 50 % of peak | 50.0 % of peak | u8, 1 channel, 3×3, fast | yes |
| high roof | ≥ 51 % of peak | 50.0 % of peak | u8, 1 channel, 3×3, fast | no |
| cuFFT | ≤ 0.2 of cuFFT | 0.20 of cuFFT | u8, 1 channel, 3×3, fast | no |
| NPP | ≤ 1 of NPP | 0.50 of NPP | u8, 1 channel, 3×3, fast | yes |
| no NPP | ≤ 1 of NPP | not measured | u8, 3 channels, 3×3, fast | no |"
[ "$(cat "$work/targets.md")" = "$expected" ] || fail "these are not the targets: $(diff <(echo "$expected") "$work/targets.md")"
grep -qF '| u8 | 1 | 8bit 3×3 | slow | 2.60 | ≤ 2.5 | 2.60 | no |' "$work/all.md" || fail "a point is missing: $(cat "$work/all.md")"

printf '%s\n' 'NPP FilterBorder,u8,1,3,2.512,0.5' 'convfilt best,u8,1,3,1.1,tensor' 'convfilt best,u8,1,9,13.21,direct' \
  'NPP FilterBorder,f32,3,9,123.4,0.5' | awk -v sides="3 9" -f peers/table.awk >"$work/peers.md"
expected="
| u8, 1 channel | 3×3 | 9×9 |
|---|---:|---:|
| NPP FilterBorder | 2.51 |  |
| convfilt best | 1.10 tensor | 13.2 direct |

| f32, 3 channels | 3×3 | 9×9 |
|---|---:|---:|
| NPP FilterBorder |  | 123 |"
[ "$(cat "$work/peers.md")" = "$expected" ] || fail "these are not the peers: $(diff <(echo "$expected") "$work/peers.md")"
echo "scripts: points.awk, auto.awk, targets.awk, peers/table.awk"
