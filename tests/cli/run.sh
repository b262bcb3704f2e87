#!/usr/bin/env bash
# Runs the command-line tests: each GROUP/NAME.sh here is a case. README.md says how to read and add one.
#
#   tests/cli/run.sh [--accept] [PATTERN...]
#     PATTERN: only the cases whose GROUP/NAME matches, as in 'usage/*'
#     --accept: what came out becomes what is expected, to be read before it is committed
#
# CONVFILT names the program, by default build/release/bin/convfilt; JOBS says how many cases run at once. Some cases are
# longer with CONVFILT_TEST_SIZE=full, and those whose name ends in _full run only then.
# Needs bash 4.3 and coreutils only. Ends with a line of counts; exit code 1 if a case failed.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
# The user's own defaults would change what options do.
for name in "${!CONVFILT_@}"; do
  case $name in CONVFILT_PROFILES | CONVFILT_FILTERS | CONVFILT_MODULES | CONVFILT_TEST_SIZE) ;; *) unset "$name" ;; esac
done
export XDG_CONFIG_HOME=/nonexistent
export CONVFILT=${CONVFILT:-$repository/build/release/bin/convfilt}
[ -x "$CONVFILT" ] || { echo "tests/cli/run.sh: no program at $CONVFILT; build it, or set CONVFILT" >&2; exit 1; }
CONVFILT=$(realpath "$CONVFILT")
# The user's own profiles would change what -v says.
export CONVFILT_PROFILES=${CONVFILT_PROFILES:-$repository/src/auto/profiles}
export LC_ALL=C TZ=UTC
# Lines stay whole here; usage/width holds the program to a terminal's width.
export COLUMNS=1000
export CONVFILT_FILTERS=${CONVFILT_FILTERS:-$repository/filters}
work=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
accept=false
[ "${1:-}" = --accept ] && { accept=true; shift; }
kSkipped=77 kSeconds=300
# All pairs of options take long.
[ "${CONVFILT_TEST_SIZE:-full}" != full ] || kSeconds=900
readonly kSkipped kSeconds

# Whether ACTUAL is what EXPECTED says, line by line: in EXPECTED, a * is any text within a line, a line "..." is any
# number of lines, and everything else is meant literally. A file that is not there is an empty one.
matches() {  # EXPECTED ACTUAL
  local -a expected=() actual=()
  [ -f "$1" ] && mapfile -t expected <"$1"
  mapfile -t actual <"$2"
  local at=0 any=false line pattern
  for line in "${expected[@]}"; do
    [ "$line" = ... ] && { any=true; continue; }
    pattern=${line//\\/\\\\}; pattern=${pattern//\[/\\[}; pattern=${pattern//\?/\\?}
    # shellcheck disable=SC2053  # the right side is a pattern
    while $any && [ $at -lt ${#actual[@]} ] && [[ ${actual[at]} != $pattern ]]; do ((++at)); done
    # shellcheck disable=SC2053
    [ $at -lt ${#actual[@]} ] && [[ ${actual[at]} == $pattern ]] || return 1
    ((++at)); any=false
  done
  $any || [ $at -eq ${#actual[@]} ]
}

difference() {  # EXPECTED ACTUAL WHAT
  matches "$1" "$2" && return
  if $accept; then cp "$2" "$1"; echo "accepted $3"; return; fi
  local known=/dev/null
  [ -f "$1" ] && known=$1
  if command -v diff >/dev/null; then diff -u --label "expected $3" --label "$3" "$known" "$2"
  else echo "--- $3 is not as expected, but:"; cat "$2"; fi
}

run_case() {  # GROUP/NAME: prints its line, and what is wrong; leaves ok, FAILED or skipped in its folder
  local name=$1 box=$work/$1 case=$here/$1.sh start=$EPOCHREALTIME code result problems=""
  mkdir -p "$box/in"
  ln -s "$repository/samples" "$repository/filters" "$box/in"
  (cd "$box/in" && exec timeout -k 5 "$kSeconds" bash -euo pipefail -c '. "$1"; . "$2"' "$name" "$here/lib.sh" "$case") \
    <"/dev/null" >"$box/stdout" 2>"$box/stderr"
  code=$?
  if [ $code = $kSkipped ]; then
    result=skipped
    tail -n 1 "$box/stderr" >"$box/reason"
  else
    [ $code = 0 ] || problems="exit code $code$([ $code = 124 ] && echo ": more than $kSeconds s")"$'\n'
    problems+=$(difference "$here/$name.stdout" "$box/stdout" "$name.stdout")
    problems+=${problems:+$'\n'}$(difference "$here/$name.stderr" "$box/stderr" "$name.stderr")
    if [ -z "$problems" ]; then result=ok; else result=FAILED; fi
  fi
  local microseconds=$((${EPOCHREALTIME/./} - ${start/./}))
  printf '%-8s%s (%d.%d s)%s\n' $result "$name" $((microseconds / 1000000)) $((microseconds / 100000 % 10)) \
    "${problems:+$'\n'$problems}$([ $result = skipped ] && echo ": $(cat "$box/reason")")"
  touch "$box/$result"
}

wanted() {  # GROUP/NAME PATTERN...
  local name=$1 pattern; shift
  [ $# = 0 ] && return 0
  # shellcheck disable=SC2053
  for pattern; do [[ $name == $pattern ]] && return 0; done
  return 1
}

names=()
for file in "$here"/*/*.sh; do
  name=${file#"$here/"}; name=${name%.sh}
  [[ $name != *_full || ${CONVFILT_TEST_SIZE:-} = full ]] || continue
  wanted "$name" "$@" && names+=("$name")
done
[ ${#names[@]} -gt 0 ] || { echo "tests/cli/run.sh: no case matches $*" >&2; exit 1; }

jobs=${JOBS:-$(nproc)}
running=0
for name in "${names[@]}"; do
  [ $running -lt "$jobs" ] || { wait -n; ((--running)); }
  run_case "$name" &
  ((++running))
done
wait

count() { find "$work" -name "$1" | wc -l; }
failed=$(count FAILED) skipped=$(count skipped) passed=$(count ok)
[ $((failed + skipped + passed)) = ${#names[@]} ] || { echo "tests/cli/run.sh: some cases left no result"; exit 1; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
