#!/usr/bin/env bash
# Threads that cannot be started, and memory that is not given: each call that starts a thread or asks for 64 KiB or more fails
# once, and then it and all that follow fail, by a library for LD_PRELOAD (tests/support/failing_calls.c). The program must
# write the bytes that it writes without faults, or end with exit code 1 and a message, within 20 seconds; it must leave no
# temporary file, and no result that differs.
#
#   CONVFILT=… tests/folders/failing_calls.sh [MOST]
#
# MOST is how many calls fail of each kind, of each command, evenly spread: 3 without it, and 8 in a full run of the tests;
# 0 = all: some minutes.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
[ "${CONVFILT_TEST_SIZE:-}" = full ] && most=${1:-8} || most=${1:-3}
program=$(realpath "${CONVFILT:?names the program}")
cd "$(dirname "$0")/../.."
root=$PWD
skip() { echo "skipped: $*"; exit 77; }
command -v "${CC:-cc}" >/dev/null || skip "there is no C compiler"
! grep -q __asan_init "$program" || skip "AddressSanitizer has an allocator of its own"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
library=$work/failing_calls.so
"${CC:-cc}" -O1 -shared -fPIC -o "$library" tests/support/failing_calls.c -ldl
cd "$work"
export XDG_CONFIG_HOME=/nonexistent XDG_CACHE_HOME=$work/cache LC_ALL=C

mkdir in
wide=$root/samples/rocket.jpg
"$program" apply identity "$wide" in/a.png -q
"$program" apply identity "$wide" in/b.tif -q
"$program" apply identity "$root/samples/camera.png" in/c.webp -q
cp "$wide" in/d.jpg
# One that is large enough to be cut into bands, for all threads.
{ printf 'P6\n1600 1000\n255\n'; head -c 4800000 < <(yes 'the pixels of a picture'); } >large.ppm
"$program" apply identity large.ppm large.jpg -q
"$program" apply identity large.ppm large.png -q
for i in 1 2 3 4; do "$program" blur "$root/samples/camera.png" "in/e$i.jpg" --sigma $i -q; done

runs=0 failures=0
wrong() {
  failures=$((failures + 1))
  echo "$*: ${command[*]}: $(head -c 300 said)" >&2
}
# Runs the command with calls FIRST to LAST of a kind failing, and compares what it leaves in `out`.
attempt() {  # KIND FIRST LAST
  local code=0 file what="$1 $2 to $3 failing"
  rm -rf out; mkdir out
  LD_PRELOAD=$library FAIL_KIND=$1 FAIL_FIRST=$2 FAIL_LAST=$3 timeout -s KILL 20 "$program" "${command[@]}" >told 2>said || code=$? 2>/dev/null
  runs=$((runs + 1))
  case $code in
    0 | 1) ;;
    137) wrong "$what: it hangs" ;;
    *) wrong "$what: exit $code" ;;
  esac
  ! grep -q 'terminate called\|unexpected:' said || wrong "$what: it says so"
  while IFS= read -r file; do
    [ -e "right/$file" ] || { wrong "$what: it left $file"; continue; }
    cmp -s "right/$file" "out/$file" || wrong "$what: other bytes in $file"
  done < <(find out -type f ! -name .convfilt-journal -printf '%P\n')
  if [ $code = 0 ]; then
    [ "$(find out -type f | wc -l)" = "$(find right -type f | wc -l)" ] || wrong "$what: exit 0, and a result is missing"
  elif [ $code = 1 ]; then
    grep -q '^convfilt: ' said || wrong "$what: exit 1 without a message"
    [ $one = false ] || [ "$(grep -c '^convfilt: ' said)" = 1 ] || wrong "$what: more than one message"
  fi
}
# Has calls of both kinds fail in one command, which writes into `out`, or nothing.
sweep() {  # WORD...
  command=("$@")
  local kind count step n
  for kind in ${kinds:-thread memory}; do
    rm -rf out right counted; mkdir out
    LD_PRELOAD=$library FAIL_KIND=$kind FAIL_COUNT=$work/counted "$program" "${command[@]}" >told 2>said || { wrong "it fails without a fault"; return; }
    mv out right
    count=$(head -n 1 counted)
    step=1
    [ "$most" = 0 ] || step=$(((count + most - 1) / most))
    # One that comes after the last, too: with faults there may be more calls.
    for ((n = 1; n <= count + 1; n += step > 0 ? step : 1)); do
      attempt "$kind" $n $n
      attempt "$kind" $n 1000000000
    done
    echo "$kind, $count calls: ${command[*]}"
  done
}

one=true
sweep blur large.jpg out/a.jpg --threads 2
sweep blur large.jpg out/b.png --threads 8
sweep sharpen large.png out/c.tif --threads 8
sweep blur in/d.jpg out/d.webp --threads 8
sweep blur in/c.webp out/e.tif --threads 2 --border wrap
sweep blur in/e1.jpg out/e.png --threads 8 --strategy tiled-in -q
one=false
sweep blur in out --threads 2
sweep blur in out --threads 8
sweep edge in out --threads 8 --max-memory 100M
sweep compare in/e1.jpg --mask 3x3 --strategies basic,cpu
sweep explain tiled-in --mask 5x5
# libjxl itself ends the program where it gets no memory.
one=true
if "$program" apply identity in/e1.jpg in.jxl -q 2>/dev/null; then kinds=thread sweep blur in.jxl out/e.jxl --threads 8; fi

# Pictures for a GPU whose lanes get few threads or none, by the test's own device.
tests=$(dirname "$program")/convfilt_tests
for first in 1 4 7; do
  [ -x "$tests" ] || break
  command=("$tests" --test-case='devices get whole plain JPEGs*') code=0
  LD_PRELOAD=$library FAIL_KIND=thread FAIL_FIRST=$first timeout -s KILL 20 "${command[@]}" >said 2>&1 || code=$?
  if [ $code -gt 1 ] || grep -q 'THREW\|CRASHED' said; then wrong "thread $first and all that follow failing: exit $code"; fi
done

# A run without any other thread heeds a signal.
command=(blur many out --threads 8)
mkdir many; rm -rf out
for i in {1..400}; do ln in/a.png "many/$i.png"; done
LD_PRELOAD=$library FAIL_KIND=thread FAIL_FIRST=1 "$program" "${command[@]}" >told 2>said & pid=$!
for _ in {1..3000}; do [ ! -e out/.convfilt-journal ] || break; sleep 0.01; done
kill -TERM $pid
for _ in {1..100}; do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
! kill -KILL $pid 2>/dev/null || echo 'it is deaf to SIGTERM' >&2
code=0; wait $pid || code=$?
[ $code = 143 ] || wrong "exit $code after SIGTERM, without threads"
echo "$runs runs, $failures wrong"
[ $failures = 0 ]
