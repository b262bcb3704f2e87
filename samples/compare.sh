#!/usr/bin/env bash
# Compares every way to convolve on one picture, under small and large masks: tables, a bar chart and a roofline.
#
#   samples/compare.sh PICTURE FOLDER [compare's options...]     e.g. samples/compare.sh photo.jpg out --device cpu
#
# FOLDER gets compare.json, compare.md, compare.svg and roofline.svg. Without gnuplot, draw compare.json on another
# machine: convfilt compare --from compare.json --plot compare.svg.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,7p' "$0" >&2; exit 2; }
picture=$1 folder=$2; shift 2
convfilt=${CONVFILT:-$(command -v convfilt || "$(dirname "$0")/setup.sh" release convfilt)}
mkdir -p "$folder"
"$convfilt" compare "$picture" --mask 3x3 --mask 9x9 --mask 31x31 --mask 101x101 "$@" --json="$folder/compare.json"
"$convfilt" compare --from "$folder/compare.json" --markdown="$folder/compare.md" >/dev/null
if ! command -v gnuplot >/dev/null; then echo "no gnuplot here: no charts; the figures are in $folder/compare.md"; exit; fi
"$convfilt" compare --from "$folder/compare.json" --plot "$folder/compare.svg" >/dev/null
"$convfilt" compare --from "$folder/compare.json" --plot "$folder/roofline.svg" --plot-kind=roofline >/dev/null
echo "tables: $folder/compare.md; charts: $folder/compare.svg and $folder/roofline.svg"
