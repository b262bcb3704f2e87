#!/usr/bin/env bash
# Puts a measured table into README.md between its markers.
#
#   tests/put_table.sh bench-gpu build/gpu/bench_gpu.md
#   (echo '```'; convfilt list strategies; echo '```') >s.txt && tests/put_table.sh strategies s.txt
#   tests/peers/cpu.sh >peers.txt && tests/put_table.sh peers-cpu peers.txt
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,6p' "$0"; exit 2; }
cd_from=$PWD; cd "$(dirname "$0")/.."
table=$2; [ "${table#/}" != "$table" ] || table=$cd_from/$table
grep -q "<!-- $1:begin -->" README.md || { echo "tests/put_table.sh: README.md has no marker $1:begin" >&2; exit 1; }
[ -s "$table" ] || { echo "tests/put_table.sh: $table is missing or empty" >&2; exit 1; }
new=$(mktemp)
awk -v name="$1" -v table="$table" '
  $0 == "<!-- " name ":end -->" { inside = 0 }
  !inside { print }
  $0 == "<!-- " name ":begin -->" { inside = 1; while ((getline line < table) > 0) print line }' README.md >"$new"
cat "$new" >README.md; rm "$new"
