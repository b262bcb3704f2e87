#!/usr/bin/env bash
# Runs test cases in a process each, many at a time, for where nothing is timed; ends with the sums. Fails unless
# every process ran its test case, and that passed.
#
#   tests/bench/case_by_case.sh PROGRAM FILTER [SANITIZER...]     PROGRAM: convfilt_tests; FILTER: doctest's, as in
#                                                           '--source-file=*strategies/tensor.cpp'; SANITIZER:
#                                                           compute-sanitizer and its options
#
# Those that take longest are to begin first: the last ones, or with FORWARD=1 the first. They take the GPUs of
# CUDA_VISIBLE_DEVICES by turns, where it names several.
#
# ALONE: another filter, whose test cases run by themselves afterwards. JOBS: processes at a time, by default the
# machine's cores.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -uo pipefail
program=$1 filter=$2; shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
expected=0

run_cases() {  # NAME JOBS FILTER [SANITIZER...]: each leaves what it writes in a file of its own
  local name=$1 most=$2 filter=$3 count; shift 3
  count=$("$program" "$filter" --count | sed -n 's/.*filters: *//p')
  [ "${count:-0}" -gt 0 ] || { echo "tests/bench/case_by_case.sh: $filter leaves no test case" >&2; exit 1; }
  expected=$((expected + count))
  # shellcheck disable=SC2016  # the arguments are the inner shell's
  if [ -n "${FORWARD:-}" ]; then seq "$count"; else seq "$count" -1 1; fi | xargs -P "$most" -I{} bash -c '
    IFS=, read -ra gpus <<<"${CUDA_VISIBLE_DEVICES:-}"
    [ ${#gpus[@]} -lt 2 ] || export CUDA_VISIBLE_DEVICES=${gpus[${1##*-} % ${#gpus[@]}]}
    "${@:2}" >"$1" 2>&1
    echo "test case ${1##*/}: exit status $?, $SECONDS s" | tee -a "$1"' one "$work/$name-{}" "$@" \
    "$program" "$filter" --first={} --last={} --duration=true
}
run_cases each "${JOBS:-$(nproc)}" "$filter" "$@"
[ -z "${ALONE:-}" ] || run_cases alone 1 "$ALONE" "$@"

# The failed ones come last, where they are seen.
{ grep -rlE --exclude=all ': exit status 0, [0-9]+ s$' "$work" | sort -V; grep -rLE --exclude=all ': exit status 0, [0-9]+ s$' "$work" | sort -V; } |
  xargs -r cat >"$work/all"
cat "$work/all"
awk -v expected="$expected" -v sanitized=$# '
  /^[0-9.]+ s: / { ++ran; name = $0; if ($1 > slowest) { slowest = $1; slow = $0 } }
  /^\[doctest\] assertions:/ { assertions += $3 }
  /^\(strategy, device, case\)/ { here = $4; runs += $4; refusals += $6 }
  /(ERROR|RACECHECK) SUMMARY:/ { said = 1; errors += $4 }
  /^test case .*: exit status / {
    why = $6 + 0 ? "exit status " $6 + 0 : ran != 1 ? "ran " ran + 0 " test cases" : ""
    if (why == "" && sanitized && here && !said) why = "the sanitizer says nothing"
    if (why == "") ++passed; else print "FAILED  " (name ? name ": " : $1 " " $2 " " $3 " ") why
    ran = here = said = 0; name = ""
  }
  END {
    printf "%d of %d test cases passed, %d failed: %d assertions, %d runs, %d expected refusals", passed, expected,
      expected - passed, assertions, runs, refusals
    if (sanitized) printf ", %d errors or hazards", errors
    print "; slowest " slow
    exit !(passed == expected && runs > 0 && errors == 0)
  }' "$work/all"
