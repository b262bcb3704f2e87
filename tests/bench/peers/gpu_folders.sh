#!/usr/bin/env bash
# Folders of photographs (tests/bench/photographs.py) through a blur of sigma 2 on a GPU: convfilt beside nvImageCodec's own
# decoding and encoding, and beside convfilt and an OpenCV program on all cores. The steady state is what more pictures cost:
# the time of three times as many files less that of as many. Prints a table, and what bounds each row. Where there are several GPUs, the table is of the
# first with its share of the cores, and a second one says what all of them do beside one. CUDA_VISIBLE_DEVICES is honoured.
#
#   tests/bench/peers/gpu_folders.sh [ROUNDS] [several] [12mpx|2mpx]
#                                                several: the second table alone; 12mpx, 2mpx: the pictures of that size
#                                                alone. CONVFILT names the program; OPENCV and RATE the peers
#                                                (opencv_filter.cpp, convfilt_nvimgcodec_rate); PHOTOGRAPHS the photographs,
#                                                in 4000x3000/ and 1632x1224/
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
rate=$(realpath "${RATE:-build/release/bin/convfilt_nvimgcodec_rate}")
rounds=3 sizes='12 2' several_alone=
for word; do
  case $word in
    several) several_alone=yes ;;
    12mpx | 2mpx) sizes=${word%mpx} ;;
    [1-9] | [1-9][0-9]) rounds=$word ;;
    *) echo "tests/bench/peers/gpu_folders.sh: no '$word' is known; --help says what is" >&2; exit 2 ;;
  esac
done
[ -d /dev/shm ] && export TMPDIR=/dev/shm
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
if [ -n "${OPENCV:-}" ]; then
  cp "$OPENCV" "$work/opencv"
else
  g++ -std=c++20 -O2 tests/bench/peers/opencv_filter.cpp -o "$work/opencv" -isystem /usr/include/opencv4 \
    -lopencv_core -lopencv_imgproc -lopencv_imgcodecs -pthread
fi
distinct=8
# A file takes no more than some thousand names, so that there are several of each.
for size in 4000x3000 1632x1224; do tests/bench/photographs.py "$work/photographs-$size" $size $distinct; done
cd "$work"
# The first COUNT of the cores that this process may use.
mine=$(taskset -cp $$ | sed 's/.*: //')
cores_of() {  # COUNT
  tr , '\n' <<<"$mine" | sed 's/-/ /' | while read -r first last; do seq "$first" "${last:-$first}"; done | head -n "$1" | paste -sd,
}
# A GPU with its share of the cores stands for a machine with one GPU.
gpus=$(nvidia-smi -L | grep -c '^GPU ') all_cores=$(nproc)
if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
  share=$(($(nproc --all) / gpus))
  gpus=$(tr , '\n' <<<"$CUDA_VISIBLE_DEVICES" | wc -l)
  all_cores=$((all_cores < share * gpus ? all_cores : share * gpus))
  mine=$(cores_of "$all_cores")
  taskset -cp "$mine" $$ >/dev/null
fi
cores=$((all_cores / gpus))
[ "$gpus" = 1 ] || taskset -cp "$(cores_of "$cores")" $$ >/dev/null
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
timed() {  # milliseconds of a command
  local start=$EPOCHREALTIME
  "$@"
  echo $(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
}
make_folder() {  # NAME COUNT SIZE: the files, and three times as many
  mkdir "$1" "$1x3"
  mv "photographs-$3" "photographs$1"
  # A process for each link would take longer than all that is measured.
  python3 - "$1" "$2" $distinct <<'PYTHON'
import os, sys
name, count, distinct = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for i in range(3 * count):
    os.link(f"photographs{name}/{i % distinct:03}.jpg", f"{name}x3/{i}.jpg")
    if i < count:
        os.link(f"photographs{name}/{i % distinct:03}.jpg", f"{name}/{i}.jpg")
PYTHON
}
by_gpu() { sed -n 's/.*[^0-9]\([0-9]*\) by nvImageCodec.*/\1/p' said; }
devices=0
blur() {  # FOLDER OPTION...
  rm -rf out
  local on=(); [[ " $* " != *' gpu '* ]] || on=("--devices=$devices")
  "$convfilt" blur "$1" out --quality 90 "${@:2}" "${on[@]}" 2>said
}
opencv() { rm -rf out; mkdir out; ./opencv folder "$cores" blur 2 out "$1"/*.jpg; }
different() { find "$1" -name '*.jpg' -print0 | xargs -0 md5sum | cut -c1-32 | sort -u | wc -l; }
one_each() {  # every copy of a photograph gives the same file
  [ "$(different out)" = "$(different "photographs$name")" ] || { echo "results of one photograph differ" >&2; exit 1; }
}
of() { awk "BEGIN { printf \"$1\", $2 }"; }

beside_others() {  # a row of the first table
  local few l m a p c o steady opencv_rate difference
  : >"less"; : >"more"; : >alone; : >cpu; : >cv
  few=$((count / 5))
  mkdir few; for ((i = 0; i < few; ++i)); do ln "$name/$i.jpg" few/$i.jpg; done
  for ((round = 0; round < rounds; ++round)); do
    for lanes in '1 64 16' '2 32 16' '2 64 8'; do
      # shellcheck disable=SC2086  # lanes, batch, threads
      "$rate" both $lanes 2 "photographs$name"/*.jpg >>"alone_$lanes" 2>/dev/null
      RATE_POOLS=1 "$rate" both $lanes 2 "photographs$name"/*.jpg >>"pools_$lanes" 2>/dev/null
    done
    timed blur "$name" --codec gpu >>"less"
    timed blur "${name}x3" --codec gpu >>"more"
    [ "$(find out -name '*.jpg' | wc -l) $(by_gpu)" = "$((3 * count)) $((3 * count))" ] || { echo "results are missing: $(cat said)" >&2; exit 1; }
    timed blur few --codec cpu >>cpu
    timed opencv few >>cv
  done
  # What counts is the best of the ways in which it can be run.
  for memory in alone pools; do
    for lanes in '1 64 16' '2 32 16' '2 64 8'; do median <"${memory}_$lanes"; done | sort -n | tail -n 1 >$memory
  done
  rm -f alone_* pools_*
  l=$(median <"less") m=$(median <"more") a=$(cat alone) p=$(cat pools) c=$(median <cpu) o=$(median <cv)
  steady=$(of %.1f "2000 * $count / ($m - $l)") opencv_rate=$(of %.1f "1000 * $few / $o")
  echo "| JPEGs of $name Mpx | $steady | $(of %.1f "3000 * $count / $m") for $((3 * count)) files | $a | $(of %.2f "$steady / $a") | $p | $(of %.2f "$steady / $p") | $(of %.1f "1000 * $few / $c") | $opencv_rate | $(of %.1f "$steady / $opencv_rate") |"
  blur few --codec cpu
  mv out by_cpu
  blur "${name}x3" --codec gpu -v
  one_each
  # They are near the CPU's, too.
  difference=$(./opencv difference out/0.jpg by_cpu/0.jpg)
  awk -v d="$difference" 'BEGIN { exit !(d + 0 < 1) }' || { echo "results are $difference steps from the CPU's" >&2; exit 1; }
  echo "$name Mpx: $((3 * count)) results, the same bytes for the same photograph, $difference steps from the CPU's in the mean" >>bounds
  grep % said | sed "s/^/$name Mpx: /" >>bounds
  for what in decode encode; do
    echo "$name Mpx: nvImageCodec alone, $what: $("$rate" $what 2 32 16 2 "photographs$name"/*.jpg 2>/dev/null)/s" >>bounds
  done
}
echo "$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=name --format=csv,noheader | head -n 1), $cores cores, medians of $rounds: pictures a second."
if [ -z "$several_alone" ]; then
  echo
  echo "| blur, sigma 2 | convfilt, steady state | whole command | nvImageCodec alone | × it | with our pools | × it | convfilt, CPU | OpenCV, $cores workers | × it |"
  echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
fi
for row in '12 1500 4000x3000' '2 6000 1632x1224'; do
  read -r name count size <<<"$row"
  [[ " $sizes " == *" $name "* ]] || continue
  make_folder "$name" "$count" "$size"
  if [ -z "$several_alone" ]; then beside_others; fi
  if [ "$gpus" -gt 1 ]; then
    : >"less"; : >"more"; : >one_less; : >one_more
    for ((round = 0; round < rounds; ++round)); do
      timed blur "$name" --codec gpu >>one_less
      timed blur "${name}x3" --codec gpu >>one_more
      taskset -cp "$mine" $$ >/dev/null; devices=all
      timed blur "$name" --codec gpu >>"less"
      timed blur "${name}x3" --codec gpu >>"more"
      [ "$(find out -name '*.jpg' | wc -l) $(by_gpu)" = "$((3 * count)) $((3 * count))" ] || { echo "results are missing: $(cat said)" >&2; exit 1; }
      one_each
      taskset -cp "$(cores_of "$cores")" $$ >/dev/null; devices=0
    done
    one=$(of %.1f "2000 * $count / ($(median <one_more) - $(median <one_less))")
    many=$(of %.1f "2000 * $count / ($(median <"more") - $(median <"less"))")
    echo "| JPEGs of $name Mpx | $one | $many | $(of %.2f "$many / $one") |" >>several
  fi
  rm -rf "$name" "${name}x3" "photographs$name" few out by_cpu
done
if [ "$gpus" -gt 1 ]; then
  echo
  echo "| steady state | one GPU, $cores cores | $gpus GPUs, $all_cores cores | × one |"
  echo '|---|---:|---:|---:|'
  cat several
fi
echo
cat bounds 2>/dev/null || true
