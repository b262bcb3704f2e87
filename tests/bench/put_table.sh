#!/usr/bin/env bash
# Puts a table between its markers, in README.md, kernels/README.md or kernels/MEASUREMENTS.md. Above a measured table it
# records the commit: COMMIT, or the one that is checked out.
#
#   tests/bench/put_table.sh NAME FILE [COMMIT]
#   tests/bench/put_table.sh bench-gpu build/gpu/bench_gpu.md
#   tests/bench/put_table.sh peers-gpu build/gpu/peers.md
#   tests/bench/put_table.sh race build/gpu/race.md
#   tests/bench/put_table.sh targets build/gpu/targets.md
#   tests/bench/peers/cpu.sh >peers.txt && tests/bench/put_table.sh peers-cpu peers.txt
#
# With --generated instead of a commit, the table is not measured: it comes from the program (tests/renew.sh).
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
[ $# -eq 2 ] || [ $# -eq 3 ] || { sed -n '2,12p' "$0"; exit 2; }
die() { echo "tests/bench/put_table.sh: $*" >&2; exit 1; }
cd_from=$PWD; cd "$(dirname "$0")/../.."
table=$2; [ "${table#/}" != "$table" ] || table=$cd_from/$table
[ -s "$table" ] || die "$table is missing or empty"
measured=
if [ "${3:-}" != --generated ]; then
  commit=${3:-$(git rev-parse --short HEAD)} || die "name the commit that was measured"
  measured="Measured at $commit."
fi
cd "${PUT_TABLE_ROOT:-.}"
files=$(grep -l "<!-- $1:begin -->" README.md kernels/README.md kernels/MEASUREMENTS.md) ||
  die "neither README.md nor kernels/README.md nor kernels/MEASUREMENTS.md has a marker $1:begin"
new=$(mktemp); trap 'rm -f "$new"' EXIT
for file in $files; do
  awk -v name="$1" -v table="$table" -v measured="$measured" '
    $0 == "<!-- " name ":end -->" { inside = 0 }
    !inside { print }
    $0 == "<!-- " name ":begin -->" {
      inside = 1
      if (measured) print measured "\n"
      while ((getline line < table) > 0) print line
    }' "$file" >"$new"
  cat "$new" >"$file"
done
