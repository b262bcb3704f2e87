#!/usr/bin/env bash
# Folders of photographs (tests/bench/photographs.py) in other formats than JPEG, and filters that cost more than a blur, on a
# machine with a GPU. Cores decode and encode; the GPU filters. Each row has pictures a second, beside the same folder on the
# cores alone, and what `auto` takes. The steady state is what more pictures cost, as in gpu_folders.sh.
#
#   tests/bench/peers/gpu_formats.sh [ROUNDS] [FORMAT...]     by default 3, and png tif webp jpg; jpg goes through the GPU's codec,
#                                                             too. CONVFILT names the program; PHOTOGRAPHS the photographs, in
#                                                             1632x1224/; COUNT how many files are few, by default 400;
#                                                             FILTER a part of the words of those filters that are to run
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
rounds=3
[[ ! ${1:-} =~ ^[0-9]+$ ]] || { rounds=$1; shift; }
formats=("$@"); [ $# -gt 0 ] || formats=(png tif webp jpg)
count=${COUNT:-400} distinct=8
[ -d /dev/shm ] && export TMPDIR=/dev/shm
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
tests/bench/photographs.py "$work/photographs" 1632x1224 $distinct >&2
cd "$work"
awk 'BEGIN { srand(1); for (y = 0; y < 31; ++y) { for (x = 0; x < 31; ++x) printf "%.6f ", rand() / 480; print "" } }' >random31.txt
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
filters=('blur --sigma 2' 'apply random31.txt' 'blur --sigma 8 | sharpen | edge')
filter() {  # WORDS FOLDER OPTION...: milliseconds; what it says is in `said`
  local words start
  # shellcheck disable=SC2206  # words
  if [[ $1 == *'|'* ]]; then words=(run "$1" "$2" out); else words=($1 "$2" out); fi
  rm -rf out
  start=$EPOCHREALTIME
  "$convfilt" "${words[@]}" "${@:3}" -q --json >said
  echo $(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
}
steady() {  # FORMAT WORDS OPTION...: pictures a second
  local round few=() many=()
  for ((round = 0; round < rounds; ++round)); do
    few+=("$(filter "$2" "$1" "${@:3}")") many+=("$(filter "$2" "${1}x3" "${@:3}")")
  done
  awk -v a="$(printf '%s\n' "${few[@]}" | median)" -v b="$(printf '%s\n' "${many[@]}" | median)" -v n=$((2 * count)) \
    'BEGIN { printf "%.1f", 1000 * n / (b - a) }'
}
by() { grep -o '"device":"[^"]*"' said | sort | uniq -c | awk '{ sub(/"device":/, "", $2); gsub(/"/, "", $2); printf "%s%d by %s", (NR > 1 ? ", " : ""), $1, $2 }'; }
echo "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1), $(nproc) cores, medians of $rounds: pictures of 2 megapixels a second."
echo
echo '| files | filter | cores alone | GPU filters | × cores | auto | which takes |'
echo '|---|---|---:|---:|---:|---:|---|'
for format in "${formats[@]}"; do
  mkdir originals "$format" "${format}x3"
  if [ "$format" = jpg ]; then cp photographs/*.jpg originals
  else "$convfilt" apply identity photographs originals --format "$format" --name "{stem}.$format" --codec cpu -q
  fi
  for ((i = 0; i < 3 * count; ++i)); do
    file=originals/$(printf %03d $((i % distinct))).$format
    ln "$file" "${format}x3/$i.$format"
    [ $i -ge $count ] || ln "$file" "$format/$i.$format"
  done
  for words in "${filters[@]}"; do
    [[ $words == *"${FILTER:-}"* ]] || continue
    cores=$(steady "$format" "$words" --device cpu --codec cpu)
    gpu=$(steady "$format" "$words" --device cuda --codec cpu)
    auto=$(steady "$format" "$words" --codec cpu)
    echo "| $format | $words | $cores | $gpu | $(awk "BEGIN { printf \"%.2f\", $gpu / $cores }") | $auto | $(by) |" | sed 's/ | \(sharpen\|edge\)/ \\| \1/g'
    [ "$format" = jpg ] || continue
    gpu=$(steady "$format" "$words" --codec gpu)
    echo "| jpg, GPU's codec | $words | $cores | $gpu | $(awk "BEGIN { printf \"%.2f\", $gpu / $cores }") | | $(by) |" | sed 's/ | \(sharpen\|edge\)/ \\| \1/g'
  done
  rm -r originals "$format" "${format}x3"
done
