#!/usr/bin/env bash
# Adds CONTRIBUTING.md's example of a filter to a copy of this tree: its file, and its entry in the table of filters. Only the
# table is compiled, the rest is linked from BUILD. Holds all that the entry is to bring.
#
#   tests/example_filter.sh BUILD
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
fail() { echo "tests/example_filter.sh: $*" >&2; exit 1; }
build=$(realpath "${1:?usage: tests/example_filter.sh BUILD}")
. "$(dirname "$0")/support/example.sh"

block() { sed -n "/^<!-- $1:begin -->\$/,/^<!-- $1:end -->\$/{/^<!--/d; s/^    //; p}" CONTRIBUTING.md; }
block filter-file >src/filter/streak.hpp
block filter-entry >"$work/entry"
[ "$(wc -l <"$work/entry")" -ge 5 ] && [ -s src/filter/streak.hpp ] || fail "CONTRIBUTING.md has no example of a filter"
sed -i -e '/^#include "src\/filter\/edge.hpp"$/a #include "src/filter/streak.hpp"' \
  -e "/^const auto& kFilters = \*new const std::vector<FilterLine>{\$/r $work/entry" src/recipe/table.cpp
[ "$(diff -rq "$repository/app" app; diff -rq "$repository/src" src)" = "Only in src/filter: streak.hpp
Files $repository/src/recipe/table.cpp and src/recipe/table.cpp differ" ] || fail "a filter is more than its file and its entry"
configure
compile '/src/recipe/table[.]cpp'
link

# Its bytes are those of the same mask in a text file.
cd "$work"
echo '1 1 1 1 1' >mask.txt
"$CONVFILT" apply mask.txt "$tree/samples/chelsea.png" wanted.ppm --normalize
"$CONVFILT" streak "$tree/samples/chelsea.png" out.ppm --length 5
cmp wanted.ppm out.ppm || fail "its bytes are others than those of its mask"
# What its entry brings.
holds() {  # WORDS COMMAND...
  local words=$1; shift
  "$@" >said 2>&1 || true
  grep -qF -- "$words" said || fail "$* does not say '$words' but: $(head -n 20 said)"
}
holds '  streak    Smear pixels along a row' "$CONVFILT" --help
holds 'Length of a streak, in pixels, from 1 to 1025' "$CONVFILT" streak -h
holds 'from 1 to 1025 (default' "$CONVFILT" streak --help
holds '\-\-length' "$CONVFILT" generate man
holds 'from 1 to 1025 (default 9)' "$CONVFILT" generate man
holds '    streak)' "$CONVFILT" generate bash
holds "--length: '1026' is out of range; give one from 1 to 1025" "$CONVFILT" streak in.ppm out.ppm --length 1026
holds "unknown option '--lenth'; did you mean '--length'?" "$CONVFILT" streak in.ppm out.ppm --lenth 3
holds 'Smear pixels along a row (--length)' "$CONVFILT" list filters
printf '[streak]\nlength = 5\n' >c.toml
"$CONVFILT" streak "$tree/samples/chelsea.png" out.ppm --config c.toml
cmp wanted.ppm out.ppm || fail "its default is not taken from a file"
mkdir in; cp "$tree/samples/chelsea.png" in
"$CONVFILT" streak in out --length 5 --format ppm -q
holds '"reason":"done before"' "$CONVFILT" streak in out --length 5 --format ppm --resume --json
holds 'other options' "$CONVFILT" streak in out --length 6 --format ppm --resume
cmp wanted.ppm out/chelsea.ppm || fail "a folder gets other bytes"
echo "example filter: added, compiled and linked in $seconds s"
