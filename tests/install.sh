#!/usr/bin/env bash
# Installs BUILD, moves what came out elsewhere, and has the moved program find the filters beside it. Two of those are made
# to differ from the source tree's: a new one, and `identity` described in other words. Then it installs the same files from
# a build of the program, its manual and the library alone, which is what samples/quickstart.sh makes, and packs them:
# packaging/try.sh tries such a package on a system of its own. At last it uninstalls them: none of our files is left, a
# user's own is.
#
#   tests/install.sh BUILD
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
fail() { echo "tests/install.sh: $*" >&2; exit 1; }
build=$(realpath "${1:?usage: tests/install.sh BUILD}")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CONVFILT_FILTERS CONVFILT_PROFILES CONVFILT_MODULES CXX

# The list of what the user has installed from here stays, since uninstalling needs it.
! [ -f "$build/install_manifest.txt" ] || mv "$build/install_manifest.txt" "$work/manifest"
trap '! [ -f "$work/manifest" ] || mv -f "$work/manifest" "$build/install_manifest.txt"; rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log" >&2; fail "cmake --install failed"; }
mv "$work/prefix" "$work/moved"
program=$(find "$work/moved" -path "*/bin/convfilt" -type f)
filters=$(find "$work/moved" -name filters -type d)
[ -x "$program" ] || fail "no program was installed"
[ -d "$filters" ] || fail "no filters were installed"
[ "$(find "$work/moved" -name profiles -type d -exec ls {} \;)" = "$(ls "$source/src/auto/profiles")" ] ||
  fail "the profiles that were installed are not those of the source tree"

for file in man/man1/convfilt.1.gz bash-completion/completions/convfilt zsh/site-functions/_convfilt fish/vendor_completions.d/convfilt.fish; do
  [ -s "$work/moved/share/$file" ] || fail "share/$file was not installed"
done
gunzip -c "$work/moved/share/man/man1/convfilt.1.gz" | grep 'SH SYNOPSIS' >/dev/null || fail "the manual page is none"

cd "$work"
printf '# only installed\n0 0 2\n' >"$filters/marker.txt"
printf '# not as in the source tree\n1\n' >"$filters/identity.txt"
COLUMNS=1000 "$program" list masks >list
for file in "$source"/filters/*.txt; do
  name=$(basename "$file" .txt)
  grep -q "^  $name " list || fail "list masks lacks $name"
done
expected=$(($(find "$source/filters" -name '*.txt' | wc -l) + 1))
[ "$(wc -l <list)" = "$expected" ] || fail "list masks has $(wc -l <list) lines, not $expected"
grep -q '^  marker .* only installed$' list || fail "list masks lacks what was added beside the program"
grep -q '^  identity .* not as in the source tree$' list || fail "identity comes from the source tree"

echo 'P2 3 1 255 10 20 30' >in.pgm
"$program" apply marker in.pgm out.pgm
[ "$(tail -c 3 out.pgm | od -An -tu1 | xargs)" = "40 60 60" ] || fail "apply marker: wrong samples"
# A student's kernel is compiled and linked with what lies beside the program.
if command -v c++ >/dev/null && command -v addr2line >/dev/null; then
  "$program" try "$source/samples/kernels/basic.cu" --device cpu >said 2>&1 || fail "the moved program cannot try a kernel: $(cat said)"
fi
# Profiles, too, are read beside the program, not those that it holds for where there are none.
broken=$(find "$work/moved" -name profiles -type d)/broken.json
echo '{' >"$broken"
"$program" apply marker in.pgm out.pgm 2>said
grep -q 'warning: profile .*/moved/.*profiles/broken\.json: ' said || fail "a profile beside the program is not read: $(cat said)"
rm "$broken"

# What quickstart.sh makes, three targets, is put into a build folder that is new, so nothing else is there to be installed.
setting() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
settings=(-G "$(setting CMAKE_GENERATOR)" -DCONVFILT_CUDA=OFF -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON)
for name in CMAKE_CXX_COMPILER CMAKE_BUILD_TYPE CMAKE_TOOLCHAIN_FILE CMAKE_PREFIX_PATH VCPKG_INSTALLED_DIR; do
  value=$(setting $name)
  [ -z "$value" ] || settings+=("-D$name=$value")
done
cmake -S "$source" -B few "${settings[@]}" >log 2>&1 || { cat log >&2; fail "cmake fails"; }
mkdir -p few/bin
cp -p "$build/bin/convfilt" few/bin/
cp -rp "$build/app/generated" few/app/
cp -P "$build"/src/libconvfilt.so* few/src/
cp -rp "$build/lib" few/  # modules of codecs
cmake --install few --prefix "$work/of_few" >log 2>&1 || { cat log >&2; fail "a build of convfilt, convfilt_manual and convfilt_library alone cannot be installed"; }
rm "$filters/marker.txt"
diff <(cd "$work/moved" && find . -type f | sort) <(cd "$work/of_few" && find . -type f | sort) ||
  fail "a build of convfilt, convfilt_manual and convfilt_library alone installs other files"

files_of() { sed 's|^\./||; s|[^/]*/||' | grep -v '/$\|^$' | sort; }  # names without the first folder, which is usr or the tarball's own
(cd "$work/of_few" && find . ! -type d | sed 's|^\./||' | sort) >installed
(cd few && cpack -G TGZ) >log 2>&1 || { cat log >&2; fail "cpack makes no tarball"; }
tar tf few/convfilt-*.tar.gz | files_of | diff installed - || fail "the tarball has other files than cmake --install"
if command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
  (cd few && cpack -G DEB) >log 2>&1 || { cat log >&2; fail "cpack makes no .deb"; }
  deb=$(echo few/convfilt_*.deb)
  {
    grep -v 'site-functions\|LICENSE\|^lib/\|^include/' installed
    echo lib/convfilt/libconvfilt_lesson.a
    printf 'share/%s\n' zsh/vendor-completions/_convfilt doc/convfilt/copyright doc/convfilt/changelog.Debian.gz
  } | sort | diff - <(dpkg-deb --fsys-tarfile "$deb" | tar t | files_of) || fail "the .deb has other files than it should"
  dpkg-deb -f "$deb" Depends | grep -q 'libjpeg.*libtiff' || fail "the .deb depends on $(dpkg-deb -f "$deb" Depends)"
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error few/*.deb >log 2>&1 || { cat log >&2; fail "lintian finds errors"; }
  fi
else
  echo "skipped: the .deb; dpkg-dev or file is not installed"
fi

# A prefix whose name has a blank, and a user's own file in our folder.
mv few "few files" && mv of_few "of few" && sed -i 's|/of_few/|/of few/|' "few files/install_manifest.txt"
: >"of few/share/convfilt/filters/own.txt"
cmake -P "few files/uninstall.cmake" >log 2>&1 || { cat log >&2; fail "uninstall.cmake fails"; }
[ "$(find "of few" ! -type d -o -name '*convfilt*' | sort | xargs -d '\n' | xargs)" = "of few/share/convfilt of few/share/convfilt/filters/own.txt" ] ||
  fail "uninstalling leaves $(find "of few" ! -type d -o -name '*convfilt*')"
! cmake -P "few files/uninstall.cmake" >log 2>&1 && grep -q 'None of the files' log || fail "uninstalling twice says: $(cat log)"
