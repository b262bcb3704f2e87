#!/usr/bin/env bash
# A folder in parts by GNU parallel: on this machine, or on several that see the same folders, with its --sshlogin.
# Started again, it does what is missing.
#
#   gnu_parallel.sh IN OUT PARTS [ARGUMENT OF PARALLEL...]     CONVFILT names the program
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
[ $# -ge 3 ] || { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
set -euo pipefail
in=$1 out=$2 parts=$3
shift 3
# A part takes the cores that it is given, so that parts on one machine do not crowd each other.
threads=$((($(nproc) + parts - 1) / parts))
seq "$parts" | parallel --halt soon,fail=1 "$@" \
  "${CONVFILT:-convfilt}" blur "$in" "$out" --recursive --shard "{}/$parts" --resume --threads "$threads" --quiet
"${CONVFILT:-convfilt}" merge "$out"
