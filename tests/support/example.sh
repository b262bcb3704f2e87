# tests/example_strategy.sh, tests/example_filter.sh and tests/without_lab.sh share this: a copy of this tree that they
# change. Only what changed is compiled; the rest is linked from a build. The script that sources this has `build` and `fail`.
cd "$(dirname "$0")/.."
repository=$PWD
[ -f "$build/CMakeCache.txt" ] || fail "$build is no build"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
cp -r .clang-format CMakeLists.txt CMakePresets.json LICENSE ./*.md app src kernels filters packaging samples tests "$tree"
start=$SECONDS
cd "$tree"

# Configures the copy as BUILD is, but for files that are compiled together; its compile commands say how a file is compiled.
configure() {  # [CMAKE ARGUMENT...]
  local settings
  mapfile -t settings < <(sed -nE 's/^((CONVFILT_[A-Z_]*|CMAKE_BUILD_TYPE|CMAKE_C(XX|UDA)_(COMPILER|FLAGS|ARCHITECTURES)):(BOOL|STRING|PATH|FILEPATH)=.+)$/-D\1/p' "$build/CMakeCache.txt")
  cmake -S . -B "$work/build" "${settings[@]}" -DCONVFILT_UNITY=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "cmake fails"; }
}
objects=()
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
# Leaves the program in $work/convfilt. The linker takes an object that is named before a library instead of the library's
# own; what a pattern names is left out.
link() {  # [PATTERN OF OBJECTS AND LIBRARIES]
  local command from
  if [ -f "$build/build.ninja" ]; then
    command=$(ninja -C "$build" -t commands bin/convfilt | tail -n 1); from=$build
  else
    command=$(cat "$build/app/CMakeFiles/convfilt.dir/link.txt"); from=$build/app
  fi
  bash -c "cd '$from' && $(sed -E "${1:+s# [^ ]*($1)[^ ]*##g;} s| -o [^ ]+| ${objects[*]} -o $work/convfilt|" <<<"$command")" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "it does not link"; }
  seconds=$((SECONDS - start))
  export CONVFILT=$work/convfilt CONVFILT_FILTERS=$tree/filters
}
