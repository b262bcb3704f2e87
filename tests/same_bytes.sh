#!/usr/bin/env bash
# The direct strategies give identical pixels; so do blur --sigma 12, which auto takes separably, and separable with
# --sigma 40, and edges, several masks and chains, on every device present; auto's blur --sigma 40, of the transform family, is within a step.
# CONVFILT names the program. With EXPECTED=FOLDER the results are also compared with those an earlier run of
# this script left there, on a machine without a GPU; KEEP=FOLDER leaves them.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
export COLUMNS=1000  # so that lines of -v stay whole
convfilt=${CONVFILT:?names the program}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
out=${KEEP:-$work}; mkdir -p "$out"
# A short run has the first rows alone of pictures that no choice of auto depends on.
some=$here/samples/coffee.png
if [ "${CONVFILT_TEST_SIZE:-}" = short ]; then
  "$convfilt" apply identity "$some" "$work/whole.ppm"
  some=$work/some.ppm
  { printf 'P6\n600 100\n255\n'; head -c 180000 < <(tail -c 720000 "$work/whole.ppm"); } >"$some"
fi

direct=$("$convfilt" list strategies | awk '/^  [^ ]/ && $2 == "direct" { print $1 }')
for s in $direct; do
  "$convfilt" apply "$here/filters/gaussian5.txt" "$some" "$out/$s.png" --strategy=$s -v 2>&1 | sed "s/^/$s: /"
  cmp "$out/basic.png" "$out/$s.png"
done
devices=(cpu emulator)
"$convfilt" list devices | grep -w 'cuda:0' >/dev/null && devices+=(cuda)
edges=('' '--threshold 40' '--thin --sigma 2' '--method scharr --thin --threshold 30 --sigma 0' '--method roberts --direction y'
  '--method kirsch --thin' '--method robinson --color --threshold 60' '--method log --thin --color' '--method laplacian'
  '--method farid --color --gain 4' '--method canny')
chains=('blur --sigma 1.4 | edge --thin --threshold 30' 'sharpen --amount 2 | edge --method kirsch --color | apply emboss3'
  'edge | blur --sigma 5 | apply sharpen3' 'blur --sigma 2 | edge --method canny | blur')
printf '0 1 0\n1 -4 1\n0 1 0\noffset: 9\n---\n1 2 1\n0 0 0\n-1 -2 -1\nscale: 3\n---\n1 0 -1\n' >"$work/several.txt"
bytes_of() { tail -c 720000 "$1" | od -An -v -w1 -tu1; }
for d in "${devices[@]}"; do
  "$convfilt" blur --sigma 12 "$here/samples/coffee.png" "$out/blur12-$d.png" --device=$d -v 2>&1 | grep 'family separable'
  "$convfilt" blur --sigma 40 "$here/samples/coffee.png" "$out/blur40-$d.png" --device=$d --strategy=separable
  for e in "${!edges[@]}"; do
    # shellcheck disable=SC2086  # options
    "$convfilt" edge "$some" "$out/edge$e-$d.png" --device=$d ${edges[e]}
    cmp "$out/edge$e-cpu.png" "$out/edge$e-$d.png"
  done
  for c in "${!chains[@]}"; do
    "$convfilt" run "${chains[c]}" "$some" "$out/chain$c-$d.png" --device=$d
    cmp "$out/chain$c-cpu.png" "$out/chain$c-$d.png"
  done
  for combine in sum max length first-strongest; do
    { cat "$work/several.txt"; echo "combine: $combine"; } >"$work/$combine.txt"
    "$convfilt" apply "$work/$combine.txt" "$some" "$out/$combine-$d.png" --device=$d
    cmp "$out/$combine-cpu.png" "$out/$combine-$d.png"
  done
  for sigma in 12 40; do cmp "$out/blur$sigma-cpu.png" "$out/blur$sigma-$d.png"; done
  "$convfilt" blur --sigma 40 "$here/samples/coffee.png" "$work/near-$d.ppm" --device=$d -v 2>&1 | grep 'family transform'
  paste <(bytes_of "$work/near-cpu.ppm") <(bytes_of "$work/near-$d.ppm") |
    awk '{ d = $1 - $2; if (d > 1 || d < -1) exit 1 }'
done
if [ -n "${EXPECTED:-}" ]; then
  for f in "$out"/*.png; do
    [[ "$(basename "$f")" = *-cuda.png ]] || cmp "$f" "$EXPECTED/$(basename "$f")"
  done
fi
echo "same bytes: $(wc -w <<<"$direct") strategies; blur --sigma 12 and 40, ${#edges[@]} edges, ${#chains[@]} chains, 4 sets of masks on ${devices[*]}${EXPECTED:+; and as a machine without a GPU made them}"
