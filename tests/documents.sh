#!/usr/bin/env bash
# Checks the documents against the tree: lengths, README's commands, paths and names in the kernels, the commits of measured
# tables; that CMake, samples/setup.sh and vcpkg.json name the same dependencies, in the versions that were tried; and that
# nothing generated is stale (tests/renew.sh).
# CONVFILT names the program.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/.."
CONVFILT=$(realpath "${CONVFILT:?names the program}")
export CONVFILT
repository=$PWD
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
fail() { echo "tests/documents.sh: $*" >&2; exit 1; }

while read -r file most; do
  [ "$(wc -c <"$file")" -le "$most" ] || fail "$file has $(wc -c <"$file") bytes; keep it to $most"
done <<'END'
README.md 8000
kernels/MEASUREMENTS.md 25000
END

# A path in a link or in backticks is there, from the file's own folder or from the repository's.
for file in README.md CONTRIBUTING.md kernels/*.md samples/README.md samples/*/README.md filters/README.md packaging/README.md tests/cli/README.md; do
  {
    grep -oE '[^[]\]\([^)#: ]+' "$file" | cut -c4- || true
    grep -oE '`[A-Za-z0-9_./-]+/[A-Za-z0-9_./-]*`|`[a-z_]+\.(cpp|hpp|cu|sh|txt|md)`' "$file" | tr -d '`' | grep '[a-z]' |
      grep -v '^\.\|^build/\|^share/\|^/\|^GROUP/' || true
  } | sort -u | while read -r path; do
    [ -e "$path" ] || [ -e "$(dirname "$file")/$path" ] || fail "$file names $path, which is not there"
  done
done

# The paragraph of the kernel that the table of the book's names gives has our name: signature, sizes, load or compute.
sed -n "/^## The book's names/,/^## One/p" kernels/README.md | sed -n 's/^|.*| `\(.*\)` | \(.*\) | \([a-z]*\) |$/\2 \3 \1/p' >"$work/terms"
[ "$(wc -l <"$work/terms")" -ge 10 ] || fail "kernels/README.md has no table of the book's names"
while read -r path paragraph name; do
  awk -v wanted="$paragraph" '
    /^__global__/ { at = "signature" }
    at && /^  \/\/ Load/ { at = "load" }
    at && /^  \/\/ Compute/ { at = "compute" }
    /^}/ { at = "" }
    at == wanted
    at == "signature" && /{$/ { at = "sizes" }' "kernels/$path" >"$work/paragraph"
  word=-w; [[ $name =~ ^[A-Za-z_]+$ ]] || word=
  grep -qF $word -- "$name" "$work/paragraph" || fail "kernels/README.md: '$name' does not stand in the paragraph '$paragraph' of kernels/$path"
done <"$work/terms"

# The four kernels that lectures compare have what they speak of by name and in sight, within a screen.
for kernel in basic tiled_in tiled_out cached; do
  sed -n '/^__global__/,/^}/p' "kernels/textbook/$kernel.cu" >"$work/kernel"
  [ "$(wc -l <"$work/kernel")" -le 48 ] || fail "the kernel in kernels/textbook/$kernel.cu is longer than a screen"
  for words in 'Radius r = ' TILE_WIDTH 'sample_or_ghost(' 'border, ghost'; do
    grep -qF -- "$words" "$work/kernel" || fail "the kernel in kernels/textbook/$kernel.cu does not show '$words'"
  done
done

# Every script says what it is for.
for script in tests/*.sh tests/cli/run.sh tests/bench/*.sh tests/bench/peers/*.sh tests/folders/*.sh tests/fuzz/*.sh tests/pictures/*.sh \
  tests/lesson/*.sh tests/python/*.sh samples/*.sh samples/folders/*.sh tests/bench/peers/*.py tests/pictures/*.py samples/folders/*.py; do
  run=bash
  case $script in
    *.py) command -v python3 >/dev/null || { echo "skipped: $script --help; python3 is not installed"; continue; }; run=python3 ;;
    # A script that does not know the word would do its work.
    *) [ -x "$script" ] || continue; grep -q -e --help "$script" || fail "$script does not know --help" ;;
  esac
  $run "$script" --help 2>/dev/null | grep . >/dev/null || fail "$script does not know --help"
done
for script in samples/quickstart.sh samples/folders/*.sh; do
  arguments=(); [ "$script" != samples/quickstart.sh ] || arguments=(rubbish)
  status=0; bash "$script" "${arguments[@]}" >"$work/said" 2>&1 || status=$?
  [ $status = 2 ] && grep -q "$(basename "$script")" "$work/said" || fail "$script does not say how it is used: $(cat "$work/said")"
done

# CMake, samples/setup.sh and vcpkg.json name the dependencies of packaging/dependencies.txt, CMake with the oldest version
# that was tried. The two tools in it, CMake and GCC, are no packages of CMake or vcpkg, and are installed without "-dev".
grep -v '^#' packaging/dependencies.txt >"$work/dependencies"
same() {  # COLUMN WHERE: standard input has the names of that column
  sort -u >"$work/named"
  awk -v column="$1" '$3 != "-" { print $column }' "$work/dependencies" | sort | diff - "$work/named" >"$work/difference" ||
    fail "$2 does not name the dependencies of packaging/dependencies.txt: $(grep '^[<>]' "$work/difference" | xargs)"
}
# The compiler brings Threads, pkgconf is a tool, and CUDA stays optional.
grep -hE '^ *(find_package|pkg_check_modules)\(' CMakeLists.txt */CMakeLists.txt | grep -vE '\((Threads|PkgConfig|CUDAToolkit) ' >"$work/found"
sed 's/.*(//; s/ .*//' "$work/found" | same 1 "CMake's find_package"
sed -n '/^packages=(/,/)/p' samples/setup.sh | tr -d '()' | tr ' ' '\n' | grep -E '.-dev$' | same 2 samples/setup.sh
tr -d '\n' <vcpkg.json | sed 's/.*"dependencies": *\[//; s/"features": *\[[^]]*\]//g; s/"default-features"//g; s/"name"//g' |
  grep -oE '"[^"]+"' | tr -d '"' | same 3 vcpkg.json
while read -r name _ _ oldest newest; do
  [ "$(printf '%s\n' "$oldest" "$newest" | sort -V | head -1)" = "$oldest" ] || fail "packaging/dependencies.txt: $name $oldest is newer than $newest"
  case $name in
    GCC) continue ;;
    CMake) asked=$(sed -n 's/^cmake_minimum_required(VERSION \(.*\))$/\1/p' CMakeLists.txt) ;;
    *) asked=$(sed -n "s/.*($name //p" "$work/found" | grep -oE '^[0-9][0-9.]*|>=[0-9.]+' | tr -d '>=' | sort -u) || asked=none ;;
  esac
  [[ "$oldest." = "$asked."* ]] ||
    fail "CMake asks for $name in version $asked; the oldest that was tried is $oldest in packaging/dependencies.txt"
done <"$work/dependencies"
grep -q "^project(convfilt VERSION $(sed -n 's/^  "version": "\(.*\)",$/\1/p' vcpkg.json) " CMakeLists.txt ||
  fail "vcpkg.json has another version than CMakeLists.txt"

# The commands of README and of samples/folders are run as they stand, on small pictures of the names that they use.
cd "$work"
"$CONVFILT" apply identity "$repository/samples/rocket.jpg" in.jpg
printf 'P5\n40 30\n255\n%1200s' '' >in.pgm
"$CONVFILT" apply identity in.pgm in.png
cp "$repository/filters/box3.txt" my_mask.txt
"$CONVFILT" apply box3 in.png theirs.png
mkdir photos && cp in.jpg photos/c.jpg && cp in.jpg a.jpg && cp in.png b.png
ran=0
while read -r program arguments; do
  [ "$program" = convfilt ] || continue
  eval "\"\$CONVFILT\" ${arguments%%#*}" >said 2>&1 </dev/null || fail "'convfilt $arguments' fails: $(cat said)"
  ran=$((ran + 1))
done < <(sed -n 's/^    //p' "$repository/README.md" "$repository/samples/folders/README.md")
[ $ran -ge 9 ] || fail "README and samples/folders have only $ran commands"
cd "$repository"
# The first screen of README installs, runs and tests the program.
for command in samples/quickstart.sh 'convfilt blur' tests/run.sh; do
  head -20 README.md | grep -q "^    $command" || fail "README's first screen does not show '$command'"
done

# Every table between markers that comes from measuring says at which commit.
awk '
  /^<!-- [a-z-]+:begin -->$/ && !/strategies/ { name = $2; getline; ++tables
    if ($0 !~ /^Measured at [0-9a-f]+(; [^.]* at [0-9a-f]+)?\.$/) { print FILENAME ": " name " does not say at which commit it was measured"; bad = 1 } }
  END { if (!tables) { print "no measured table"; bad = 1 } exit bad }' kernels/MEASUREMENTS.md README.md || fail "see above"

# README's figures beside NPP are those of the table's first part, which is 8-bit and grey, at the table's commit.
tr '\n' ' ' <README.md | sed 's/.*8-bit masks of \([^:]*\): `auto` takes \([^c]*\)copies, NPP \([^(]*\)(.*measured at \([0-9a-f]*\)).*/\1\n\2\n\3\n\4/' |
  tr -d ',' | sed 's/\band\b//' >"$work/said"
awk '
  /^<!-- peers-gpu:end/ { exit }
  /^<!-- peers-gpu:begin/ { inside = 1; getline; gsub(/Measured at |\./, ""); commit = $0; next }
  !inside { next }
  /^\| *[^|]*\| *3×3/ && !columns { for (k = 1; k <= NF; ++k) if ($k ~ /×/) { ++columns; side[columns] = $k } ; next }
  /^\| NPP FilterBorder / && !npp { npp = row() }
  /^\| convfilt auto / && !own { own = row() }
  function row(   k, all, cells) {
    split($0, cells, " *[|] *")
    for (k = 1; k <= columns; ++k) if (side[k] ~ /^(3×3|9×9|31×31)$/) all = all (all ? " " : "") cells[k + 2]
    return all
  }
  END { print "3×3 9×9 31×31"; print own; print npp; print commit }' kernels/MEASUREMENTS.md >"$work/measured"
[ "$(xargs <"$work/said")" = "$(xargs <"$work/measured")" ] ||
  fail "README beside NPP says $(xargs <"$work/said"), kernels/MEASUREMENTS.md $(xargs <"$work/measured")"

# Where the history is there, so are the commits.
if [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = false ]; then
  while read -r commit; do
    git cat-file -e "$commit^{commit}" 2>/dev/null || fail "something was measured at $commit, which is no commit here"
  done < <(grep -hoE '[Mm]easured at [0-9a-f]{7,}' README.md kernels/MEASUREMENTS.md | cut -d' ' -f3 | sort -u)
fi

tests/renew.sh --check
echo "documents: $ran commands of README and samples/folders"
