#!/usr/bin/env bash
# Whole processes on a 12-megapixel JPEG, blur with sigma 2, CPU only: convfilt beside a plain OpenCV program, and
# vips where it is installed, by turns in one run, on the same cores; and how far each is from the untruncated Gaussian.
#
#   tests/bench/peers/cpu.sh [ROUNDS]     CONVFILT names the program, by default build/release/bin/convfilt
set -euo pipefail
cd "$(dirname "$0")/../../.."
convfilt=${CONVFILT:-build/release/bin/convfilt}
rounds=${1:-15}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
g++ -std=c++20 -O2 tests/bench/peers/opencv_blur.cpp -o "$work/peer" -isystem /usr/include/opencv4 -lopencv_core -lopencv_imgproc -lopencv_imgcodecs
"$work/peer" make samples/rocket.jpg "$work/in.jpg"
echo '```'
echo "12-megapixel JPEG of $(stat -c %s "$work/in.jpg") bytes, sigma 2, $(nproc) cores, median of $rounds"

commands=("$convfilt blur $work/in.jpg $work/convfilt.jpg --sigma 2 --device=cpu" "$work/peer blur $work/in.jpg $work/opencv.jpg 2")
names=(convfilt OpenCV)
if command -v vips >/dev/null; then commands+=("vips gaussblur $work/in.jpg $work/vips.jpg[Q=95] 2"); names+=(vips); fi
for ((round = 0; round <= rounds; ++round)); do
  for k in "${!commands[@]}"; do
    start=$(date +%s%N); ${commands[k]}; stop=$(date +%s%N)
    [ $round -eq 0 ] || echo $(((stop - start) / 1000)) >>"$work/${names[k]}"  # the first is to warm up
  done
done
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
base=$(median "$work/OpenCV")
for name in "${names[@]}"; do
  awk -v n="$name" -v us="$(median "$work/$name")" -v base="$base" 'BEGIN { printf "%-9s %7.1f ms  %.2f of OpenCV\n", n, us / 1000, us / base }'
done
"$convfilt" blur "$work/in.jpg" "$work/convfilt.png" --sigma 2 --device=cpu
(cd "$work" && ./peer distance in.jpg convfilt.png 2)
if command -v vips >/dev/null; then
  vips gaussblur "$work/in.jpg" "$work/vips.png" 2
  (cd "$work" && ./peer distance in.jpg vips.png 2)
fi
echo '```'
