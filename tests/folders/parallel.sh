#!/usr/bin/env bash
# Tries samples/folders/shell_loop.sh and gnu_parallel.sh on 40 small pictures, in a folder whose name a shell would take for
# commands. One picture is damaged, and one of four parts is killed: the others must be there with the bytes of one run, and
# the exit code must be 1. Started again, gnu_parallel.sh must write what is missing and nothing else, after merge, too.
#
#   CONVFILT=… tests/folders/parallel.sh     skipped, with the reason, where GNU parallel is missing
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/folders/results.sh
program=$(realpath "${CONVFILT:?names the program}")
loop=$(realpath samples/folders/shell_loop.sh) script=$(realpath samples/folders/gnu_parallel.sh)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# The user's own defaults would change what the programs do.
export XDG_CONFIG_HOME=/nonexistent PARALLEL='' PARALLEL_HOME=$work/parallel
unset SHELL  # as in services and in CI
cd "$work"
mkdir parallel
fail() { echo "tests/folders/parallel.sh: $*; the script said: $(cat said)" >&2; exit 1; }
same() { diff -r --exclude='.convfilt-journal*' "$1" "$2" >&2 || fail "$2 is not as one run made it"; }

# shellcheck disable=SC2016  # a name, not a command
in='photos of $(touch here) & {} {1} `it'"'"'s`' out="results of it's {2}"
mkdir -p "$in/sub folder"
for i in {1..40}; do
  folder=$in; [ "$i" -le 30 ] || folder="$in/sub folder"
  { printf 'P6\n%d 50\n255\n' $((40 + i)); head -c $((150 * (40 + i))) < <(yes "the pixels of picture $i"); } >"$folder/p $i.ppm"
done
"$program" blur "$in" all --recursive --quiet
part() { "$program" blur "$in" nowhere --recursive --shard "$1/4" --dry-run; }
# Another part begins after the one that fails.
broken=$(part 1 | sed -n 's/^.*nowhere\/\(p .*\)$/\1/p' | head -n 1) others=$((39 - $(part 2 | wc -l)))
cp -r all without_broken; rm "without_broken/$broken"
damage() { mv "$1" kept; echo 'no picture' >"$1"; }
mend() { mv kept "$1"; }

run_loop() { CONVFILT=$program "$loop" "$in/sub folder" looped >said 2>&1; }
damage "$in/sub folder/p 35.ppm"
! run_loop || fail "shell_loop.sh does not fail for a damaged picture"
[ "$(tail -n 1 said) of $(find looped -name '*.ppm' | wc -l)" = '1 failed of 9' ] || fail "shell_loop.sh does not do the others"
mend "$in/sub folder/p 35.ppm"
run_loop || fail "shell_loop.sh fails"
same "all/sub folder" looped
echo "shell_loop.sh: 9 pictures beside a damaged one, then all 10, as one run made them"

parallel --version 2>/dev/null | grep '^GNU parallel' >/dev/null ||
  { echo "skipped: GNU parallel is not installed (Debian: parallel), so gnu_parallel.sh is not tried"; exit 77; }
start() {  # EXIT_CODE [ARGUMENT OF PARALLEL...]
  local status=0
  "$script" "$in" "$out" 4 "${@:2}" >said 2>&1 || status=$?
  [ $status = "$1" ] || fail "exit code $status instead of $1"
}
says() { grep -- "$1" said >/dev/null || fail "it does not say '$1'"; }
# Results of the last start are the files that they were, and there are COUNT now.
keeps() {  # COUNT
  results_in "$out" >now
  [ -z "$(comm -23 before now)" ] || fail "written twice: $(comm -23 before now | cut -d ' ' -f 3- | paste -s -d ,)"
  [ "$(wc -l <now)" = "$1" ] || fail "$(wc -l <now) results instead of $1"
  mv now before
}
: >before
damage "$in/$broken"
cat >"a program" <<'END_OF_SCRIPT'
#!/usr/bin/env bash
case "$*" in *"--shard $lost"*) kill -KILL $$ ;; esac
exec "$program" "$@"
END_OF_SCRIPT
chmod +x "a program"
export program
lost=2/4 CONVFILT="$work/a program" start 1 --jobs 1
says "^failed: $broken: "
says '^shard 2/4 has no journal'
keeps $others
export CONVFILT=$program
start 1
says '^39 pictures done, 0 missing, 1 failed, 0 done twice$'
keeps 39
same without_broken "$out"
mend "$in/$broken"
start 0
keeps 40
same all "$out"
[ -e "$out/.convfilt-journal" ] || fail "merge did not join the journals"
start 0
keeps 40
# The journals are whole, and all the same the parts have not done what they were asked to.
lost='' CONVFILT="$work/a program" start 1
says '^40 pictures done'
keeps 40
# No part fails here, but a journal of another run keeps merge from joining them.
out="mixed $out"
"$program" blur "$in" "$out" --recursive --shard 1/5 --quiet
start 1
says 'are those of several runs'

# In place of ssh: a shell takes the command's words apart again, in another folder.
cat >ssh <<'END_OF_SCRIPT'
#!/usr/bin/env bash
echo "$1" >>"${0%/*}/machines"
shift; [ "$1" != -- ] || shift
cd "${0%/*}/elsewhere" && exec sh -c "$*"
END_OF_SCRIPT
chmod +x ssh
mkdir elsewhere
out="remote $out"
start 0 --sshlogin "2/$work/ssh a,2/$work/ssh b"
same all "$out"
[ "$(sort -u machines | paste -s -d ' ')" = 'a b' ] || fail "the parts ran on $(sort -u machines | paste -s -d ' ')"
[ -z "$(find . -name here)" ] || fail "a shell took a name for commands"
echo "gnu_parallel.sh: 39 pictures beside a damaged one and after a killed part, then all 40, as one run made them, 0 written twice"
