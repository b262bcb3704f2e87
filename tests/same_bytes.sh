#!/usr/bin/env bash
# The direct strategies give identical pixels; so do blur --sigma 12, which auto takes separably, and separable with
# --sigma 40, on every device present; auto's blur --sigma 40, of the transform family, is within a step.
# CONVFILT names the program. With EXPECTED=FOLDER the results are also compared with those an earlier run of
# this script left there, on a machine without a GPU; KEEP=FOLDER leaves them.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
export COLUMNS=1000  # so that lines of -v stay whole
convfilt=${CONVFILT:?names the program}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
out=${KEEP:-$work}; mkdir -p "$out"

direct=$("$convfilt" list strategies | awk '/^  [^ ]/ && $2 == "direct" { print $1 }')
for s in $direct; do
  "$convfilt" apply "$here/filters/gaussian5.txt" "$here/samples/coffee.png" "$out/$s.png" --strategy=$s -v 2>&1 | sed "s/^/$s: /"
  cmp "$out/basic.png" "$out/$s.png"
done
devices=(cpu emulator)
"$convfilt" list devices | grep -w 'cuda:0' >/dev/null && devices+=(cuda)
bytes_of() { tail -c 720000 "$1" | od -An -v -w1 -tu1; }
for d in "${devices[@]}"; do
  "$convfilt" blur --sigma 12 "$here/samples/coffee.png" "$out/blur12-$d.png" --device=$d -v 2>&1 | grep 'family separable'
  "$convfilt" blur --sigma 40 "$here/samples/coffee.png" "$out/blur40-$d.png" --device=$d --strategy=separable
  for sigma in 12 40; do cmp "$out/blur$sigma-cpu.png" "$out/blur$sigma-$d.png"; done
  "$convfilt" blur --sigma 40 "$here/samples/coffee.png" "$work/near-$d.ppm" --device=$d -v 2>&1 | grep 'family transform'
  paste <(bytes_of "$work/near-cpu.ppm") <(bytes_of "$work/near-$d.ppm") |
    awk '{ d = $1 - $2; if (d > 1 || d < -1) exit 1 }'
done
if [ -n "${EXPECTED:-}" ]; then
  for f in "$out"/*.png; do
    [[ "$(basename "$f")" = blur*-cuda.png ]] || cmp "$f" "$EXPECTED/$(basename "$f")"
  done
fi
echo "same bytes: $(wc -w <<<"$direct") strategies; blur --sigma 12 and 40 on ${devices[*]}${EXPECTED:+; and as a machine without a GPU made them}"
