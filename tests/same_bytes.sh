#!/usr/bin/env bash
# The direct strategies give identical pixels, and blur --sigma 40 the same on every device present.
# CONVFILT names the program. With EXPECTED=FOLDER the results are also compared with those an earlier run of
# this script left there, on a machine without a GPU; KEEP=FOLDER leaves them.
set -euo pipefail
convfilt=${CONVFILT:?names the program}
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
out=${KEEP:-$work}; mkdir -p "$out"

direct=$("$convfilt" list strategies | awk '$2 == "direct" { print $1 }')
for s in $direct; do
  "$convfilt" apply "$here/filters/gaussian5.txt" "$here/samples/coffee.png" "$out/$s.png" --strategy=$s -v 2>&1 | sed "s/^/$s: /"
  cmp "$out/basic.png" "$out/$s.png"
done
devices=(cpu emulator)
"$convfilt" list devices | grep -qw 'cuda:0' && devices+=(cuda)
for d in "${devices[@]}"; do
  "$convfilt" blur --sigma 40 "$here/samples/coffee.png" "$out/blur40-$d.png" --device=$d
  cmp "$out/blur40-cpu.png" "$out/blur40-$d.png"
done
if [ -n "${EXPECTED:-}" ]; then
  for f in "$out"/*.png; do
    [ "$(basename "$f")" = blur40-cuda.png ] || cmp "$f" "$EXPECTED/$(basename "$f")"
  done
fi
echo "same bytes: $(wc -w <<<"$direct") strategies; blur --sigma 40 on ${devices[*]}${EXPECTED:+; and as a machine without a GPU made them}"
