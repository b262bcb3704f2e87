#!/usr/bin/env bash
# Installs BUILD, moves what came out elsewhere, and has the moved program find the filters beside it. The program falls
# back on the filters of the source tree, so two of those installed are made to differ from it: a new one, and `identity`
# described in other words.
#
#   tests/install.sh BUILD
set -euo pipefail
fail() { echo "tests/install.sh: $*" >&2; exit 1; }
build=${1:?usage: tests/install.sh BUILD}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CONVFILT_FILTERS CONVFILT_PROFILES

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
gunzip -c "$work/moved/share/man/man1/convfilt.1.gz" | grep -q 'SH SYNOPSIS' || fail "the manual page is none"

cd "$work"
printf '# only installed\n0 0 2\n' >"$filters/marker.txt"
printf '# not as in the source tree\n1\n' >"$filters/identity.txt"
"$program" list filters >list
for file in "$source"/filters/*.txt; do
  name=$(basename "$file" .txt)
  grep -q "^  $name " list || fail "list filters lacks $name"
done
expected=$(($(find "$source/filters" -name '*.txt' | wc -l) + 1))
[ "$(wc -l <list)" = "$expected" ] || fail "list filters has $(wc -l <list) lines, not $expected"
grep -q '^  marker .* only installed$' list || fail "list filters lacks what was added beside the program"
grep -q '^  identity .* not as in the source tree$' list || fail "identity comes from the source tree"

echo 'P2 3 1 255 10 20 30' >in.pgm
"$program" apply marker in.pgm out.pgm
[ "$(tail -c 3 out.pgm | od -An -tu1 | xargs)" = "40 60 60" ] || fail "apply marker: wrong samples"
# Profiles, too, are read beside the program, not those that it holds for where there are none.
echo '{' >"$(find "$work/moved" -name profiles -type d)/broken.json"
"$program" apply marker in.pgm out.pgm 2>said
grep -q 'warning: profile .*/moved/.*profiles/broken\.json: ' said || fail "a profile beside the program is not read: $(cat said)"
