#!/usr/bin/env bash
# Folders on a GPU that has nvImageCodec. A line for each part:
#   same        results are the same bytes, whatever the threads, the memory, the shards, the order
#   memory      50,000 pictures of 500 sizes: how much memory the program and the device have taken at each quarter
#   short       on a device that is nearly full, all pictures are filtered, with the bytes of the codec that is named
#   damage      342 files that are cut and 3,800 with a bit changed: GPU and CPU refuse the same ones, and say the same of them
#   sanitizers  compute-sanitizer's four tools over a folder, or those that TOOLS names, for blur, edge and a chain, or those that COMMANDS names
#
#   tests/folders/on_gpu.sh [PART...]     by default all; CONVFILT names the program
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
cd "$(dirname "$0")/../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
export CONVFILT_FILTERS=${CONVFILT_FILTERS:-$PWD/filters}
parts=("$@"); [ $# -gt 0 ] || parts=(same memory short damage sanitizers)
sizes=${SIZES:-500} pictures=${PICTURES:-50000}
[ -d /dev/shm ] && export TMPDIR=/dev/shm
[ -z "${KEEP:-}" ] || KEEP=$(realpath "$KEEP")  # where initcheck's reports are kept
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
rocket=$(realpath samples/rocket.jpg)
cd "$work"

make_sizes() {  # FOLDER COUNT [TALLEST]: JPEGs of COUNT sizes, from one file of bytes
  local i width height tallest=${3:-900}
  mkdir -p ppm
  head -c 3000000 < <(yes 'any bytes will do as pixels, since their contents do not matter') >bytes
  for ((i = 0; i < $2; ++i)); do
    width=$((40 + i * 7 % 811)) height=$((tallest - i))
    { printf 'P6\n%d %d\n255\n' $width $height; head -c $((3 * width * height)) bytes; } >"ppm/$i.ppm"
  done
  "$convfilt" apply identity ppm "$1" --format jpg --name '{stem}.jpg' --codec cpu -q
  rm -r ppm
}
sums() { [ -d "$1" ] || return 1; (cd "$1" && find . -type f ! -name '.*' -print0 | sort -z | xargs -0 md5sum | md5sum); }
on_gpu() { "$convfilt" blur "$@" --codec gpu -q --json >said; }
# How many pictures of the last run GPUs read and wrote. Without this count the CPU could do all the work unseen.
by_gpu() { grep -c '"codec":"gpu"' said || true; }
used() { nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=memory.used --format=csv,noheader,nounits | head -n 1; }

same() {
  make_sizes many 60
  local i
  for i in {1..20}; do cp "$rocket" "many/rocket$i.jpg"; done
  on_gpu many one
  local expected how count=1 shared=0
  [ "$(by_gpu)" = 80 ] || { echo "same: GPUs did only $(by_gpu) of 80"; return 1; }
  expected=$(sums one)
  for how in '--threads 1' '--threads 3' '--max-memory 40M' '--shard 1/1'; do
    # shellcheck disable=SC2086  # options
    rm -rf other; on_gpu many other $how
    [ "$(by_gpu)" = 80 ] || { echo "same: GPUs did only $(by_gpu) of 80 with $how"; return 1; }
    [ "$(sums other)" = "$expected" ] || { echo "same: other bytes with $how"; return 1; }
    count=$((count + 1))
  done
  # Edges take two masks or more, and chains several steps, and floats between.
  for how in edge 'edge --thin --threshold 40' 'edge --color --method kirsch' 'blur --sigma 1.4 | edge --thin' \
    'sharpen --amount 2 | edge --color | blur'; do
    rm -rf edges edges_again
    for i in edges edges_again; do
      # shellcheck disable=SC2046  # options
      "$convfilt" run "$how" many $i --codec gpu -q --json $([ $i = edges ] || echo --threads 1) >said
      [ "$(by_gpu)" = 80 ] || { echo "same: GPUs did only $(by_gpu) of 80 by $how"; return 1; }
    done
    [ "$(sums edges)" = "$(sums edges_again)" ] || { echo "same: other bytes by $how"; return 1; }
  done
  rm -rf other
  for i in 2 3 1; do on_gpu many other --shard $i/3; shared=$((shared + $(by_gpu))); done
  [ $shared = 80 ] || { echo "same: GPUs did only $shared of 80 with shards"; return 1; }
  [ "$(sums other)" = "$expected" ] || { echo "same: other bytes with shards"; return 1; }
  for i in {1..10}; do rm "other/rocket$i.jpg"; done
  "$convfilt" merge other >/dev/null 2>&1 && { echo "same: merge misses nothing"; return 1; }
  for i in 1 2 3; do on_gpu many other --shard $i/3 --resume; done
  [ "$(sums other)" = "$expected" ] || { echo "same: other bytes after --resume"; return 1; }
  echo "same: 80 pictures, $((count + 2)) ways, and three kinds of edges and two chains 2 ways, the same bytes"
}

memory() {
  make_sizes some "$sizes"
  mkdir many
  local i pid rss device
  for ((i = 0; i < pictures; ++i)); do ln "some/$((i % sizes)).jpg" "many/$i.jpg"; done
  device=$(used)
  "$convfilt" blur many out --codec gpu -q --json >said & pid=$!
  : >taken
  while kill -0 $pid 2>/dev/null; do
    rss=$(awk '/^VmRSS/ { print int($2 / 1024) }' /proc/$pid/status 2>/dev/null || true)
    [ -z "$rss" ] || echo "$rss $(($(used) - device))" >>taken
    sleep 0.2
  done
  wait $pid
  [ "$(find out -name '*.jpg' | wc -l)" = "$pictures" ] || { echo "memory: results are missing"; return 1; }
  [ "$(by_gpu)" = "$pictures" ] || { echo "memory: GPUs did only $(by_gpu) of $pictures"; return 1; }
  awk -v pictures="$pictures" -v sizes="$sizes" '
    { rss[NR] = $1; device[NR] = $2 }
    END {
      for (i = 1; i <= NR; ++i) {
        q = int((i - 1) * 4 / NR)
        if (rss[i] > most[q]) most[q] = rss[i]
        if (device[i] > most_device[q]) most_device[q] = device[i]
      }
      printf "memory: %d pictures of %d sizes; MiB of the program, by quarter: %d %d %d %d; of the device: %d %d %d %d\n", pictures, sizes,
        most[0], most[1], most[2], most[3], most_device[0], most_device[1], most_device[2], most_device[3]
      exit !(most[3] <= most[1] * 1.1 + 64 && most_device[3] <= most_device[1] * 1.1 + 64)
    }' taken || { echo "memory: it grows"; return 1; }
}

# Somebody else has all but some 1,500 MiB of the device.
short() {
  local library holder
  make_sizes few 20
  "$convfilt" blur "$rocket" large.ppm -q
  local i
  for i in {1..6}; do { printf 'P6\n8000 6000\n255\n'; head -c 144000000 < <(yes "picture $i of many large ones"); } >"large$i.ppm"; done
  "$convfilt" apply identity large?.ppm -o few --format jpg --codec cpu -q
  rm large*.ppm
  on_gpu few expected
  for library in /usr/local/cuda/lib64/libcudart.so.1?; do [ ! -e "$library" ] || break; done
  python3 - "$library" <<'PYTHON' & holder=$!
import ctypes, sys, time
cuda = ctypes.CDLL(sys.argv[1])
free, total, memory = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_void_p()
cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
assert cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(free.value - (1500 << 20))) == 0
open("held", "w").close()
time.sleep(600)
PYTHON
  while [ ! -e held ] && kill -0 $holder; do sleep 0.1; done
  local status=0
  on_gpu few out || status=$?
  kill $holder; wait $holder 2>/dev/null || true
  [ $status = 0 ] || { echo "short: it failed"; return 1; }
  # What the GPU cannot hold is the CPU's, whose codec rounds in its own way.
  "$convfilt" blur few by_cpu --codec cpu -q
  local line name by wrong=0 gpu=0
  while read -r line; do
    name=$(grep -o '"output":"[^"]*"' <<<"$line" | sed 's/.*\///; s/"//')
    by=expected; grep -q '"codec":"gpu"' <<<"$line" && gpu=$((gpu + 1)) || by=by_cpu
    cmp -s "out/$name" "$by/$name" || { wrong=$((wrong + 1)); echo "short: other bytes in $name, which is to be as in $by"; }
  done <said
  echo "short: 26 pictures with 1,500 MiB of the device: $gpu by the GPU's codecs, the others by the CPU's, $wrong with other bytes"
  # The small ones go through the GPU all the same, unless the device can do nothing at all.
  [ $wrong = 0 ] && [ $gpu -ge 20 ] && [ $gpu -lt 26 ]
}

damage() {
  mkdir hurt
  python3 - "$rocket" <<'PYTHON'
import random, sys
whole = open(sys.argv[1], "rb").read()
random.seed(1)
for i in range(342):
    open(f"hurt/cut{i}.jpg", "wb").write(whole[:len(whole) * (i + 1) // 343])
for i in range(3800):
    changed = bytearray(whole)
    changed[random.randrange(len(whole))] ^= 1 << random.randrange(8)
    open(f"hurt/flip{i}.jpg", "wb").write(changed)
PYTHON
  local codec refused
  for codec in cpu gpu; do
    "$convfilt" blur hurt out --codec $codec -q --json >said 2>/dev/null || true
    python3 -c '
import json, sys
for line in sorted(map(json.loads, open("said")), key=lambda line: line.get("input", "")):
    print(line.get("input"), line["status"], line.get("reason") if line["status"] != "done" else "")' >$codec.verdicts
    rm -rf out
  done
  refused=$(grep -vc ' done ' gpu.verdicts || true)
  cmp -s cpu.verdicts gpu.verdicts || { echo "damage: other verdicts than the CPU's"; diff cpu.verdicts gpu.verdicts | head; return 1; }
  echo "damage: $(wc -l <gpu.verdicts) files: $refused refused and $(by_gpu) filtered by GPUs, with the verdicts of the CPU"
  [ "$refused" -gt 1000 ] && [ "$(by_gpu)" -gt 100 ]
}

sanitizers() {
  make_sizes tiny 12 90
  cp "$rocket" tiny/
  "$convfilt" apply identity "$rocket" tiny/a.png -q
  local tool line command
  for tool in ${TOOLS:-memcheck racecheck initcheck synccheck}; do
    [ $tool != initcheck ] || { uninitialised; continue; }
    for command in ${COMMANDS:-blur edge run}; do
      sanitize $tool $command || { echo "sanitizers: $tool"; grep -v '^========= *$' log | tail -n 25; return 1; }
      [ "$(find out -type f ! -name '.*' | wc -l)" = 14 ] || { echo "sanitizers: $tool: results are missing"; return 1; }
      line=$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' log | sed 's/^=* *//')
      grep '13 by nvImageCodec' log >/dev/null || { echo "sanitizers: $tool: GPUs did not do the 13 JPEGs"; tail -n 5 log; return 1; }
      echo "sanitizers: $tool: $command: $line; 13 by nvImageCodec"
    done
  done
}
words_of() { words=("$1"); [ $1 != run ] || words+=('blur --sigma 1.4 | edge --thin'); }  # COMMAND
# racecheck has an error of its own now and then, or stops, where several threads launch kernels. That tells nothing of ours,
# so it begins again, twice at most.
sanitize() {  # TOOL COMMAND
  local attempt status words
  words_of $2
  for attempt in 1 2 3; do
    rm -rf out; status=0
    timeout -k 5 120 compute-sanitizer --tool $1 --error-exitcode 9 "$convfilt" "${words[@]}" tiny out --codec gpu >log 2>&1 || status=$?
    [ $1 = racecheck ] || break
    [ $status = 124 ] || grep 'Internal Sanitizer Error' log >/dev/null || break
    echo "sanitizers: racecheck: $2: it failed itself$([ $status != 124 ] || echo ", by its time")$([ $attempt = 3 ] || echo "; again")"
  done
  return $status
}
# nvJPEG itself reads what initcheck has seen nobody write, in nvImageCodec alone as well. So the reports that count are those of other
# kernels, and of copies that other libraries ask for. nvJPEG's are some 15 a pixel, so the pictures are tiny. A caller is
# found in the first three frames; hundreds of thousands of whole backtraces take many minutes.
uninitialised() {
  local command words counts theirs others said
  make_sizes few 3 12
  for command in ${COMMANDS:-blur edge run}; do
    rm -rf out; words_of $command
    compute-sanitizer --tool initcheck --print-limit 10000000 --num-callers-host 3 "$convfilt" "${words[@]}" few out --codec gpu >log 2>&1 ||
      { echo "sanitizers: initcheck: $command fails"; tail -n 5 log; return 1; }
    [ -z "${KEEP:-}" ] || gzip -c log >"$KEEP/initcheck-$command.gz"
    grep '3 by nvImageCodec' log >/dev/null || { echo "sanitizers: initcheck: GPUs did not do the 3 JPEGs"; tail -n 5 log; return 1; }
    counts=$(awk '
      function end() { if (report) { ++all; if (kernel ? kernel ~ /     at (void )?nvjpeg::/ : caller ~ /libnvjpeg|libnvimgcodec/) ++theirs; else print report " " kernel " " caller >"others" } report = kernel = caller = "" }
      BEGIN { printf "" >"others" }
      /^=========     at / { kernel = $0 }
      /Host Frame:/ && caller == "" && !/ in libcuda\.so/ { caller = $0 }
      /^========= (Uninitialized|Host API uninitialized)/ { end(); report = $0 }
      /ERROR SUMMARY: / && said == "" { end(); said = $4 }
      END { print theirs + 0, all - theirs, said }' log)
    read -r theirs others said <<<"$counts"
    [ $((theirs + others)) = "$said" ] || { echo "sanitizers: initcheck: $command: $theirs and $others reports are not the $said that it counts"; return 1; }
    echo "sanitizers: initcheck: $command: $others reports, beside $theirs of nvJPEG itself; 3 by nvImageCodec"
    [ "$others" = 0 ] || { sort others | uniq -c | sort -rn | head; return 1; }
  done
}

for part in "${parts[@]}"; do
  case $part in same | memory | short | damage | sanitizers) ;; *) echo "no part $part; there are same, memory, short, damage, sanitizers" >&2; exit 2 ;; esac
  # A shell that is asked for its success would not stop at a failure inside.
  mkdir "$part"
  cd "$part"
  $part
  cd ..
done
