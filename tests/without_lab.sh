#!/usr/bin/env bash
# Configures a copy of this tree with CONVFILT_LAB=OFF, links the program from the objects of BUILD without those of the lab,
# and holds that it gives the same bytes, does not show the lab's commands, and refuses them with an honest message.
#
#   tests/without_lab.sh BUILD
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
fail() { echo "tests/without_lab.sh: $*" >&2; exit 1; }
build=$(realpath "${1:?usage: tests/without_lab.sh BUILD}")
. "$(dirname "$0")/support/example.sh"

# The objects of BUILD are those of a build without the lab, since no source file asks about the lab.
! grep -rnE '^ *#.*CONVFILT_LAB' app src kernels --include='*.[hc]pp' --include='*.cu' || fail "a source file asks for CONVFILT_LAB"
configure -DCONVFILT_LAB=OFF
compiled=$(grep -oE '"file": ".*/(app|src)/lab/.*"' "$work/build/compile_commands.json") || true
[ "$compiled" = "\"file\": \"$tree/app/lab/none.cpp\"" ] || fail "a build without the lab compiles $compiled"
compile '/app/lab/none[.]cpp'
link 'convfilt[.]dir/lab/|unity_lab_|libconvfilt_lab'

cd "$work"
with=$build/bin/convfilt
[ "$(stat -c %s convfilt)" -lt $(($(stat -c %s "$with") * 95 / 100)) ] || fail "the program is hardly smaller without the lab"
mkdir in; cp "$tree/samples/chelsea.png" "$tree/samples/coffee.png" in
for filter in 'blur --sigma 3' 'blur --box 40 --border reflect' 'sharpen --linear' 'edge --method log --output signed' 'apply emboss3'; do
  "$with" ${filter%% --*} in a --format ppm -q ${filter#"${filter%% --*}"}
  "$CONVFILT" ${filter%% --*} in b --format ppm -q ${filter#"${filter%% --*}"}
  rm -rf a/.convfilt* b/.convfilt*
  diff -r a b || fail "other bytes: $filter"
  rm -rf a b
done
# One file of defaults serves a build with the lab and one without it.
printf 'border = "wrap"\n[compare]\nrepeats = 3\n[try]\nquiet = true\n' >config.toml
"$CONVFILT" blur in/coffee.png a.ppm --config config.toml
"$with" blur in/coffee.png b.ppm --border wrap
cmp a.ppm b.ppm || fail "a file of defaults with the lab's sections gives other bytes"
echo '[comapre]' >config.toml
! "$CONVFILT" blur in/coffee.png a.ppm --config config.toml 2>err && grep -q "unknown section 'comapre'" err || fail "a misspelt section: $(cat err)"
rm a.ppm b.ppm
for topic in strategies filters masks devices; do
  diff <("$with" list $topic) <("$CONVFILT" list $topic) || fail "list $topic differs"
done
said='convfilt was built without compare, explain, check, tune and try'
for command in compare explain check tune try; do
  status=0; "$CONVFILT" $command -h >out 2>err || status=$?
  [ $status = 2 ] && [ ! -s out ] && grep -qF "$said" err || fail "$command says: $(cat out err)"
  "$with" --help | grep -q "^  $command " || fail "$command is no command of a whole build"
  for text in --help 'generate man' 'generate bash'; do
    ! "$CONVFILT" $text | grep -E "^  $command |SS \"convfilt $command|^    $command\)|[, ]$command[, ].*(list|help)" || fail "$text names $command"
  done
done
echo "without the lab: linked in $seconds s, $(stat -c %s convfilt) bytes instead of $(stat -c %s "$with")"
