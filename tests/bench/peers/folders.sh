#!/usr/bin/env bash
# Folders of JPEGs through a blur of sigma 2, on the CPU: convfilt beside an OpenCV program with as many workers as cores,
# vips under xargs, GraphicsMagick's and ImageMagick's mogrify, FFmpeg's image sequence, convfilt once a picture, and what
# libjpeg-turbo alone could do at best. By turns in one run on the same files; medians of ROUNDS. Prints tables.
#
#   tests/bench/peers/folders.sh [ROUNDS] [small]     CONVFILT names the program; small: a tenth of the files
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
rounds=${1:-5} share=1
[ "${2:-}" != small ] || share=10
cores=$(nproc)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
g++ -std=c++20 -O2 tests/bench/peers/opencv_filter.cpp -o "$work/opencv" -isystem /usr/include/opencv4 \
  -lopencv_core -lopencv_imgproc -lopencv_imgcodecs -pthread
g++ -std=c++20 -O2 tests/bench/peers/jpeg_rate.cpp -o "$work/jpeg_rate" -ljpeg -pthread
photograph=$(realpath samples/rocket.jpg)
cd "$work"
make_folder() {  # NAME COUNT WIDTH HEIGHT
  mkdir "$1"
  ./opencv make "$photograph" "$1.jpg" "$3" "$4"
  for ((i = 1; i <= $2; ++i)); do cp "$1.jpg" "$1/$(printf %03d "$i").jpg"; done
}
make_folder 2 $((100 / share)) 1632 1224
make_folder 12 $((20 / share)) 4000 3000

of_convfilt() { "$convfilt" blur "$1" out_convfilt --quality 90 --device cpu -q; }
of_opencv() { mkdir -p out_opencv; ./opencv folder "$cores" 2 out_opencv "$1"/*.jpg; }
of_xargs() { mkdir -p out_xargs; ls "$1" | xargs -P "$cores" -I{} "$convfilt" blur "$1/{}" out_xargs/{} --quality 90 --device cpu -q; }
of_loop() { mkdir -p out_loop; for file in "$1"/*.jpg; do "$convfilt" blur "$file" "out_loop/${file##*/}" --quality 90 --device cpu -q; done; }
of_vips() { mkdir -p out_vips; ls "$1" | VIPS_CONCURRENCY=1 xargs -P "$cores" -I{} vips gaussblur "$1/{}" 'out_vips/{}[Q=90]' 2; }
of_gm() { mkdir -p out_gm; (cd "$1"; gm mogrify -output-directory ../out_gm -blur 0x2 -quality 90 *.jpg); }
of_mogrify() { mkdir -p out_mogrify; mogrify -path out_mogrify -blur 0x2 -quality 90 "$1"/*.jpg; }
of_ffmpeg() { mkdir -p out_ffmpeg; ffmpeg -nostdin -v error -y -i "$1/%03d.jpg" -vf gblur=sigma=2 -q:v 3 out_ffmpeg/%03d.jpg; }
of_jpeg() { mkdir -p out_jpeg; ./jpeg_rate "$cores" out_jpeg "$1"/*.jpg >/dev/null; }

columns=(convfilt jpeg opencv)
for peer in vips gm mogrify ffmpeg; do ! command -v $peer >/dev/null || columns+=("$peer"); done
columns+=(xargs loop)
declare -A title=([convfilt]=convfilt [jpeg]='libjpeg-turbo alone' [opencv]="OpenCV, $cores workers" [vips]="vips, xargs -P$cores"
  [gm]='gm mogrify' [mogrify]=mogrify [ffmpeg]='FFmpeg, a sequence' [xargs]="convfilt, xargs -P$cores" [loop]='convfilt, a shell loop')
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
timed() {  # microseconds of a command
  local start=$EPOCHREALTIME
  "$@"
  echo $((${EPOCHREALTIME/./} - ${start/./}))
}
echo "$(grep -m1 '^model name' /proc/cpuinfo | sed 's/.*: //; s/ *[0-9]*-Core.*//'), $cores cores, medians of $rounds: pictures a second. The last columns are convfilt's rate as a multiple of OpenCV's and of libjpeg-turbo's own decoding and encoding."
echo
line='| blur, sigma 2 |' rule='|---|'
for column in "${columns[@]}"; do line+=" ${title[$column]} |" rule+='---:|'; done
printf '%s × OpenCV | × libjpeg-turbo |\n%s---:|---:|\n' "$line" "$rule"
for folder in 2 12; do
  count=$(ls $folder | wc -l)
  declare -A rate=()
  for column in "${columns[@]}"; do : >"times_$column"; done
  for ((round = 0; round < rounds; ++round)); do
    for column in "${columns[@]}"; do
      rm -rf "out_$column"
      sync  # or convfilt, which alone waits for the disk, would wait for what the others have written, too
      timed "of_$column" $folder >>"times_$column"
    done
  done
  line="| $count JPEGs of $folder megapixels |"
  for column in "${columns[@]}"; do
    [ "$(ls "out_$column" | wc -l)" = "$count" ] || { echo "$column wrote $(ls "out_$column" | wc -l) of $count" >&2; exit 1; }
    rate[$column]=$(awk -v us="$(median <"times_$column")" -v n="$count" 'BEGIN { printf "%.1f", n * 1e6 / us }')
    line+=" ${rate[$column]} |"
  done
  for ((i = 1; i <= count; i += count / 3)); do
    name=$(printf %03d "$i").jpg
    cmp -s "out_convfilt/$name" "out_loop/$name" || { echo "the folder's $name differs from the single one" >&2; exit 1; }
    difference=$(./opencv difference "out_convfilt/$name" "out_opencv/$name")
    awk -v d="$difference" 'BEGIN { exit !(d < 0.5) }' || { echo "$name is $difference steps from OpenCV's" >&2; exit 1; }
  done
  echo "$line $(awk -v c="${rate[convfilt]}" -v o="${rate[opencv]}" -v j="${rate[jpeg]}" 'BEGIN { printf "%.2f | %.2f", c / o, c / j }') |"
done

# What a small folder costs, and what holds for one that mixes thumbnails and huge scans.
mkdir three
for i in 1 2 3; do ./opencv make "$photograph" three/$i.jpg 320 240; done
: >times_three
for ((round = 0; round < 3 * rounds; ++round)); do rm -rf out_three; timed "$convfilt" blur three out_three -q >>times_three; done
echo
echo "- Three pictures of 320×240: $(median <times_three | awk '{ printf "%.1f ms", $1 / 1000 }')."
mkdir mixed
for ((i = 1; i <= 10000 / share; ++i)); do ln three/1.jpg mixed/small$i.jpg; done
./opencv make "$photograph" huge.jpg 16000 12500
for ((i = 1; i <= 10; ++i)); do ln huge.jpg mixed/huge$i.jpg; done
limit=256
said=$({ /usr/bin/time -f '%M' "$convfilt" blur mixed out_mixed --quality 90 --max-memory ${limit}M --no-progress; } 2>&1)
echo "- $((10000 / share)) pictures of 320×240 and 10 of 200 megapixels, --max-memory ${limit}M: $(sed -n 's/^convfilt: //p' <<<"$said"); peak $(($(tail -1 <<<"$said") / 1024)) MiB."
