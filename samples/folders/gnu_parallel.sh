#!/usr/bin/env bash
# Filters a folder in parts by GNU parallel: on this machine or, with its --sshlogin, on several that see the same folders.
# A failed part stops none of the others. At the end merge reports what has failed or is missing, and the exit code is
# then 1. Started again with the same number of PARTS, it does what is missing.
#
#   gnu_parallel.sh IN OUT PARTS [ARGUMENT OF PARALLEL...]     CONVFILT names the program
usage() { sed -n '2,/^[^#]/{s/^#\( \|$\)//p}' "$0"; }
case ${1:-} in -h | --help) usage; exit ;; esac
[ $# -ge 3 ] || { usage >&2; exit 2; }
set -euo pipefail
# The names are absolute, since a command on another machine begins in that machine's home folder.
in=$1 out=$2 parts=$3
[[ $in == /* ]] || in=$PWD/$in
[[ $out == /* ]] || out=$PWD/$out
shift 3
# A part takes the cores that it is given, so that parts on one machine do not crowd each other.
threads=$((($(nproc) + parts - 1) / parts))
failed=0
# Without SHELL, which services and CI may not set, parallel runs nothing on other machines, and says nothing.
export SHELL=$BASH
# parallel quotes what it puts in for {1} to {4}, for the shell of another machine, too, so that names may have blanks and
# dollars in them. Where the command itself begins with {1}, it quotes nothing; hence the exec.
parallel --null --halt never "$@" \
  "exec {1} blur {2} {3} --recursive --shard {4}/$parts --resume --threads $threads --quiet" \
  ::: "${CONVFILT:-convfilt}" ::: "$in" ::: "$out" :::: <(seq "$parts" | tr '\n' '\0') || failed=1
"${CONVFILT:-convfilt}" merge "$out" || failed=1
exit $failed
