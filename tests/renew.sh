#!/usr/bin/env bash
# Writes anew what is generated: the table of strategies in kernels/README.md, the expected output of command-line tests that list strategies,
# and what samples/ shows of commands and of measured figures.
#
#   tests/renew.sh            to be run, and read with git diff, when a strategy or a report has changed
#   tests/renew.sh --check    writes nothing, and fails where something is stale (ctest runs this)
#
# CONVFILT names the program, by default build/release/bin/convfilt. Charts need the gnuplot that drew those that are here.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
CONVFILT=$(realpath -m "${CONVFILT:-build/release/bin/convfilt}")
export CONVFILT CONVFILT_FILTERS=$PWD/filters XDG_CONFIG_HOME=/nonexistent LC_ALL=C
check=false
case ${1:-} in --check) check=true ;; "") ;; *) sed -n '2,8p' "$0"; exit 2 ;; esac
[ -x "$CONVFILT" ] || { echo "tests/renew.sh: no program at $CONVFILT; build it, or set CONVFILT" >&2; exit 1; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
stale=()

# Replaces the file by what was generated, or notes that it differs.
put() {  # GENERATED FILE
  if $check; then cmp -s "$1" "$2" || stale+=("$2"); else cp "$1" "$2"; fi
}

# The table has the name, the family and the summary from each line of the list.
COLUMNS=1000 "$CONVFILT" list strategies | awk -F '  +' '
  BEGIN { print "| strategy | family | what it does |\n|---|---|---|" }
  /^  [^ ]/ { print "| `" $2 "` | " $3 " | " $NF " |" }' >"$work/strategies"
mkdir "$work/kernels"
cp README.md "$work"; cp kernels/*.md "$work/kernels"
PUT_TABLE_ROOT=$work tests/bench/put_table.sh strategies "$work/strategies" --generated
put "$work/kernels/README.md" kernels/README.md

# Command-line tests whose expected output names most strategies.
mapfile -t names < <("$CONVFILT" list strategies | awk '/^  [^ ]/ { print $1 }')
mapfile -t cases < <(grep -owHF -f <(printf '%s\n' "${names[@]}") tests/cli/*/*.std{out,err} | sort -u | cut -d: -f1 | uniq -c |
  awk -v names=${#names[@]} '$1 * 2 >= names { gsub(/^tests\/cli\/|\.[a-z]*$/, "", $2); print $2 }')
if $check; then
  tests/cli/run.sh "${cases[@]}" >"$work/cases" || { cat "$work/cases" >&2; stale+=("tests/cli: ${cases[*]}"); }
else
  tests/cli/run.sh --accept "${cases[@]}" >"$work/cases" || grep accepted "$work/cases"
fi

gnuplot=$(gnuplot --version 2>/dev/null | sed 's/gnuplot \([0-9.]*\) patchlevel \(.*\)/\1 patchlevel \2/') || gnuplot=
put_chart() {  # GENERATED FILE
  if [ ! -e "$2" ] || { [ -n "$gnuplot" ] && grep -q "Produced by GNUPLOT $gnuplot" "$2"; }; then put "$1" "$2"
  else echo "skipped: $2 was drawn by another gnuplot than ${gnuplot:-none}"; fi
}
# samples/README.md names each picture of blocks, and the command that draws it.
while IFS=$'\t' read -r file arguments; do
  # shellcheck disable=SC2086  # arguments
  "$CONVFILT" $arguments >"$work/explain.txt"
  [ "$file" != explain-tiled-in.svg ] || put "$work/explain.txt" samples/explain-tiled-in.txt
  [ -n "$gnuplot" ] || { echo "skipped: no gnuplot, so samples/$file is not drawn"; continue; }
  # shellcheck disable=SC2086  # arguments
  "$CONVFILT" $arguments --picture "$work/explain.svg" >/dev/null
  put_chart "$work/explain.svg" "samples/$file"
done < <(sed -n 's/^| \[\(explain-.*\.svg\)\](.*) | `convfilt \(explain .*\)` |.*/\1\t\2/p' samples/README.md)
"$CONVFILT" explain --table tile=8,16,32,64 mask=5,9 --markdown >"$work/tables.md"
put "$work/tables.md" samples/explain-tables.md
for device in h200 cpu; do
  from=samples/compare/$device
  "$CONVFILT" compare --from $from.json --markdown="$work/compare.md" >/dev/null
  put "$work/compare.md" $from.md
  [ -n "$gnuplot" ] || { echo "skipped: no gnuplot, so $from.svg is not drawn"; continue; }
  "$CONVFILT" compare --from $from.json --plot "$work/compare.svg" >/dev/null
  "$CONVFILT" compare --from $from.json --plot "$work/roofline.svg" --plot-kind=roofline >/dev/null
  put_chart "$work/compare.svg" $from.svg
  put_chart "$work/roofline.svg" $from-roofline.svg
done
# JPEG encoders differ by their version, so pixels are compared.
"$CONVFILT" edge samples/rocket.jpg "$work/edges.jpg"
for file in "$work/edges.jpg" samples/rocket-edges.jpg; do
  "$CONVFILT" apply identity "$file" - -q --format ppm | tail -c +16 | od -An -v -w1 -tu1 >"$work/$(basename "$file").txt"
done
paste "$work/edges.jpg.txt" "$work/rocket-edges.jpg.txt" | awk '{ d = $1 - $2; if (d > 4 || d < -4) exit 1 }' ||
  put "$work/edges.jpg" samples/rocket-edges.jpg

[ ${#stale[@]} = 0 ] || { printf 'stale: %s\n' "${stale[@]}"; echo "run tests/renew.sh, and read what it changed"; exit 1; } >&2
if $check; then echo "generated files: none is stale"; else echo "renewed; git diff shows what has changed"; fi
