#!/usr/bin/env bash
# One command a picture, as people write it. A folder in one command is several times as fast, since it starts once and
# keeps all cores busy: convfilt blur IN OUT
#
#   shell_loop.sh IN OUT     folders; CONVFILT names the program
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
[ $# -ge 2 ] || { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
set -euo pipefail
mkdir -p "$2"
failed=0
for picture in "$1"/*; do
  "${CONVFILT:-convfilt}" blur "$picture" "$2/${picture##*/}" --quiet || failed=$((failed + 1))
done
echo "$failed failed"
[ "$failed" = 0 ]
