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
cd "$(dirname "$0")/.."
[ -f "$build/CMakeCache.txt" ] || fail "$build is no build"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
cp -r .clang-format CMakeLists.txt CMakePresets.json LICENSE ./*.md app src kernels filters packaging samples tests "$tree"
start=$SECONDS

cd "$tree"
sed -n '/^<!-- example:begin -->$/,/^<!-- example:end -->$/s/^    //p' CONTRIBUTING.md >"$work/example.sh"
[ "$(wc -l <"$work/example.sh")" = 3 ] || fail "CONTRIBUTING.md's example is not three lines"
bash -euo pipefail "$work/example.sh"
for changed in kernels/registry.cpp kernels/CMakeLists.txt; do
  [ "$(diff "$OLDPWD/$changed" $changed | grep -c '^>')" = 1 ] || fail "not one line more in $changed"
done

# The copy is configured as BUILD is, but for files that are compiled together; its compile commands say how the new file is compiled for each backend.
mapfile -t settings < <(sed -nE 's/^((CONVFILT_[A-Z_]*|CMAKE_BUILD_TYPE|CMAKE_C(XX|UDA)_(COMPILER|FLAGS|ARCHITECTURES)):(BOOL|STRING|PATH|FILEPATH)=.+)$/-D\1/p' "$build/CMakeCache.txt")
cmake -S . -B "$work/build" "${settings[@]}" -DCONVFILT_UNITY=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "cmake fails"; }
compile() {  # FILE'S END, a pattern: for each backend; leaves objects
  local folder command found=false
  while IFS=$'\t' read -r folder command; do
    objects+=("$work/${#objects[@]}.o"); found=true
    bash -c "cd '$folder' && $(sed -E "s| -o [^ ]+| -o ${objects[-1]}|" <<<"$command")" >"$work/log" 2>&1 ||
      { cat "$work/log" >&2; fail "$1 does not compile"; }
  done < <(awk -v file="$1" '
    /^ *"directory":/ { gsub(/^ *"directory": "|",?$/, ""); folder = $0 }
    /^ *"command":/ { gsub(/^ *"command": "|",?$/, ""); gsub(/\\"/, "\""); gsub(/\\\\/, "\\"); command = $0 }
    /^ *"file":/ { gsub(/^ *"file": "|",?$/, ""); if ($0 ~ file "$") print folder "\t" command }' "$work/build/compile_commands.json")
  $found || fail "CMake does not know $1"
}
objects=()
compile '/textbook/mine[.]cu([.]cpp)?'
compile '/kernels/registry[.]cpp'
if [ -f "$build/build.ninja" ]; then
  link=$(ninja -C "$build" -t commands bin/convfilt | tail -n 1); from=$build
else
  link=$(cat "$build/app/CMakeFiles/convfilt.dir/link.txt"); from=$build/app
fi
# The linker takes an object that is named before a library instead of the library's own.
bash -c "cd '$from' && $(sed -E "s| -o [^ ]+| ${objects[*]} -o $work/convfilt|" <<<"$link")" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "it does not link"; }
seconds=$((SECONDS - start))

export CONVFILT=$work/convfilt CONVFILT_FILTERS=$tree/filters
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
  [ "$(diff "$OLDPWD/$renewed" $renewed | grep -c '^>.*mine')" = 1 ] || fail "$renewed is not one line longer"
done
echo "example strategy: added, compiled and linked in $seconds s"
