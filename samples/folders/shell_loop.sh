#!/usr/bin/env bash
# One command per picture, as people write it. One command for the folder is several times as fast, since it starts once
# and keeps all cores busy: convfilt blur IN OUT
#
#   shell_loop.sh IN OUT     folders; CONVFILT names the program
usage() { sed -n '2,/^[^#]/{s/^#\( \|$\)//p}' "$0"; }
case ${1:-} in -h | --help) usage; exit ;; esac
[ $# -ge 2 ] || { usage >&2; exit 2; }
set -euo pipefail
mkdir -p "$2"
failed=0
for picture in "$1"/*; do
  "${CONVFILT:-convfilt}" blur "$picture" "$2/${picture##*/}" --quiet || failed=$((failed + 1))
done
echo "$failed failed"
[ "$failed" = 0 ]
