#!/usr/bin/env bash
# Adds CONTRIBUTING.md's example of a strategy to a copy of this tree, by the very commands that stand there, and runs
# it. Only what they change is compiled, which is the new file and the registry. The rest of the program is linked from
# BUILD.
#
#   tests/example_strategy.sh BUILD
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
fail() { echo "tests/example_strategy.sh: $*" >&2; exit 1; }
build=$(realpath "${1:?usage: tests/example_strategy.sh BUILD}")
. "$(dirname "$0")/support/example.sh"

sed -n '/^<!-- example:begin -->$/,/^<!-- example:end -->$/s/^    //p' CONTRIBUTING.md >"$work/example.sh"
[ "$(wc -l <"$work/example.sh")" = 3 ] || fail "CONTRIBUTING.md's example is not three lines"
bash -euo pipefail "$work/example.sh"
for changed in kernels/registry.cpp kernels/CMakeLists.txt; do
  [ "$(diff "$repository/$changed" $changed | grep -c '^>')" = 1 ] || fail "not one line more in $changed"
done

configure
compile '/textbook/mine[.]cu([.]cpp)?'
compile '/kernels/registry[.]cpp'
link

"$CONVFILT" list strategies | grep '^  mine  *direct ' >/dev/null || fail "list does not know it"
for strategy in basic mine; do
  "$CONVFILT" apply motion9 samples/chelsea.png "$work/$strategy.ppm" --strategy $strategy --device emulator -q
done
cmp "$work/basic.ppm" "$work/mine.ppm" || fail "its bytes are others than basic's"
"$CONVFILT" explain mine >"$work/said" || fail "explain fails: $(cat "$work/said")"
"$CONVFILT" compare --size 64x64 --mask 5x5 --strategies basic,mine --device emulator >"$work/said" || fail "compare fails: $(cat "$work/said")"
! tests/renew.sh --check >"$work/said" 2>&1 || fail "nothing that lists strategies is stale"
grep -q '^stale: kernels/README.md$' "$work/said" && grep -q '^run tests/renew.sh' "$work/said" || fail "renew.sh --check says: $(cat "$work/said")"
tests/renew.sh >"$work/said" 2>&1 || fail "renew.sh fails: $(cat "$work/said")"
for renewed in kernels/README.md tests/cli/list/strategies.stdout; do
  [ "$(diff "$repository/$renewed" $renewed | grep -c '^>.*mine')" = 1 ] || fail "$renewed is not one line longer"
done
echo "example strategy: added, compiled and linked in $seconds s"
