#!/usr/bin/env bash
# Puts a measured table into README.md, or kernels/README.md, between its markers: wherever they are.
#
#   tests/bench/put_table.sh bench-gpu build/gpu/bench_gpu.md
#   (echo '```'; convfilt list strategies; echo '```') >s.txt && tests/bench/put_table.sh strategies s.txt
#   tests/bench/peers/cpu.sh >peers.txt && tests/bench/put_table.sh peers-cpu peers.txt
#   tests/bench/put_table.sh peers-gpu build/gpu/peers.md
#   tests/bench/put_table.sh targets build/gpu/targets.md
#   tests/bench/put_table.sh targets-points build/gpu/targets-points.md
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,9p' "$0"; exit 2; }
cd_from=$PWD; cd "$(dirname "$0")/../.."
table=$2; [ "${table#/}" != "$table" ] || table=$cd_from/$table
[ -s "$table" ] || { echo "tests/bench/put_table.sh: $table is missing or empty" >&2; exit 1; }
files=$(grep -l "<!-- $1:begin -->" README.md kernels/README.md) ||
  { echo "tests/bench/put_table.sh: neither README.md nor kernels/README.md has a marker $1:begin" >&2; exit 1; }
new=$(mktemp); trap 'rm -f "$new"' EXIT
for file in $files; do
  awk -v name="$1" -v table="$table" '
    $0 == "<!-- " name ":end -->" { inside = 0 }
    !inside { print }
    $0 == "<!-- " name ":begin -->" { inside = 1; while ((getline line < table) > 0) print line }' "$file" >"$new"
  cat "$new" >"$file"
done
