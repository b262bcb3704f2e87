#!/usr/bin/env bash
# Folders of photographs (tests/bench/photographs.py) through a blur of sigma 2, edge and sharpen --luma, on the CPU: convfilt beside
# an OpenCV program with as many workers as cores, vips under xargs, GraphicsMagick's and ImageMagick's mogrify, FFmpeg's
# image sequence, convfilt once a picture, and what libjpeg-turbo alone could do at best. By turns in one run on the same
# files. Prints tables: medians of ROUNDS, and in brackets what the least time of all cores (user and system) would allow.
#
#   tests/bench/peers/folders.sh [ROUNDS] [small] [PEER...]     CONVFILT names the program; small: a tenth of the files; PEER:
#                                                               these alone beside convfilt, jpeg and opencv
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
rounds=${1:-5} share=1 peers=("${@:2}")
[ "${2:-}" != small ] || share=10 peers=("${@:3}")
cores=$(nproc)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
g++ -std=c++20 -O2 tests/bench/peers/opencv_filter.cpp -o "$work/opencv" -isystem /usr/include/opencv4 \
  -lopencv_core -lopencv_imgproc -lopencv_imgcodecs -pthread
g++ -std=c++20 -O2 tests/bench/peers/jpeg_rate.cpp -o "$work/jpeg_rate" -ljpeg -pthread
make_folder() { tests/bench/photographs.py "$work/$1" "$2" "$3"; }  # NAME WIDTHxHEIGHT COUNT
make_folder 2 1632x1224 $((100 / share))
make_folder 12 4000x3000 $((20 / share))
make_folder three 320x240 3
make_folder huge 16000x12500 1
cd "$work"

names_in() { find "$1" -name '*.jpg' -printf '%f\n' | sort; }
# Each of these takes a folder, a filter, and for convfilt options. sharpen --luma keeps the pictures' own tables, or it could not keep
# their chroma's codes; so does libjpeg-turbo beside it.
of_convfilt() { "$convfilt" "$2" "${@:3}" "$1" out_convfilt -r --device cpu -q; }
of_opencv() { mkdir -p out_opencv; ./opencv folder "$cores" "${2/edge/luma}" "$([ "$2" = blur ] && echo 2 || echo 1)" out_opencv "$1"/*.jpg; }
of_xargs() { mkdir -p out_xargs; names_in "$1" | xargs -P "$cores" -I{} "$convfilt" "$2" "${@:3}" "$1/{}" out_xargs/{} --device cpu -q; }
of_loop() { mkdir -p out_loop; for file in "$1"/*.jpg; do "$convfilt" "$2" "${@:3}" "$file" "out_loop/${file##*/}" --device cpu -q; done; }
of_vips() {
  mkdir -p out_vips
  local filter=sharpen number=(--sigma 1 --x1 0)
  case $2 in blur) filter=gaussblur number=(2) ;; edge) filter=sobel number=() ;; esac
  names_in "$1" | VIPS_CONCURRENCY=1 xargs -P "$cores" -I{} vips "$filter" "$1/{}" 'out_vips/{}[Q=90,subsample-mode=on]' "${number[@]}"
}
of_gm() { mkdir -p out_gm; (cd "$1"; gm mogrify -output-directory ../out_gm -blur 0x2 -quality 90 ./*.jpg); }
of_mogrify() { mkdir -p out_mogrify; mogrify -path out_mogrify -blur 0x2 -quality 90 "$1"/*.jpg; }
of_ffmpeg() { mkdir -p out_ffmpeg; ffmpeg -nostdin -v error -y -start_number 0 -i "$1/%03d.jpg" -vf gblur=sigma=2 -q:v 3 out_ffmpeg/%03d.jpg; }
of_jpeg() { mkdir -p out_jpeg; ./jpeg_rate "$cores" "$([ "$2" = sharpen ] && echo 0 || echo 90)" out_jpeg "$1"/*.jpg >/dev/null; }

columns=(convfilt jpeg opencv)
[ ${#peers[@]} -gt 0 ] || peers=(vips gm mogrify ffmpeg xargs loop)
for peer in "${peers[@]}"; do ! { [ "$peer" = loop ] || command -v "$peer" >/dev/null; } || columns+=("$peer"); done
declare -A title=([convfilt]=convfilt [jpeg]='libjpeg-turbo alone' [opencv]="OpenCV, $cores workers" [vips]="vips, xargs -P$cores"
  [gm]='gm mogrify' [mogrify]=mogrify [ffmpeg]='FFmpeg, a sequence' [xargs]="convfilt, xargs -P$cores" [loop]='convfilt, a shell loop')
does() {  # PEER FILTER
  case $1:$2 in *:blur | convfilt:* | jpeg:* | opencv:edge | vips:*) ;; *) return 1 ;; esac
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
TIMEFORMAT='%3R %3U %3S'
timed() { { time "$@" >/dev/null 2>said; } 2>spent; awk '{ print $1, $2 + $3 }' spent; }  # seconds of a command, and of all cores
echo "$(grep -m1 '^model name' /proc/cpuinfo | sed 's/.*: //; s/ *[0-9]*-Core.*//'), $cores cores, medians of $rounds: pictures a second, in brackets what the time of all cores would allow. The last columns are convfilt's rate as a multiple of OpenCV's and of libjpeg-turbo's own decoding and encoding."
echo
line='| |' rule='|---|'
for column in "${columns[@]}"; do line+=" ${title[$column]} |" rule+='---:|'; done
printf '%s × OpenCV | × libjpeg-turbo |\n%s---:|---:|\n' "$line" "$rule"
ratio() { awk -v a="${rate[convfilt]:-}" -v b="${rate[$1]:-}" 'BEGIN { split(a, x, /[ ()]+/); if (split(b, y, /[ ()]+/) > 1) printf "%.2f (%.2f)", x[1] / y[1], x[2] / y[2] }'; }
for folder in 2 12; do
  count=$(names_in $folder | wc -l)
  for filter in blur edge sharpen; do
    option=(--quality 90); [ $filter != sharpen ] || option=(--luma)
    declare -A rate=()
    for column in "${columns[@]}"; do : >"times_$column"; done
    for ((round = 0; round < rounds; ++round)); do
      for column in "${columns[@]}"; do
        does "$column" $filter || continue
        rm -rf "out_$column"
        sync  # or convfilt, which alone waits for the disk, would wait for what the others have written, too
        timed "of_$column" $folder $filter "${option[@]}" >>"times_$column" || { cat said >&2; exit 1; }
      done
    done
    line="| $count of $folder megapixels, $filter ${option[*]} |"
    for column in "${columns[@]}"; do
      does "$column" $filter || { line+=" |"; continue; }
      [ "$(names_in "out_$column" | wc -l)" = "$count" ] || { echo "$column wrote $(names_in "out_$column" | wc -l) of $count" >&2; exit 1; }
      rate[$column]=$(awk -v s="$(median <"times_$column")" -v all="$(cut -d' ' -f2 "times_$column" | sort -n | head -n 1)" -v n="$count" -v cores="$cores" \
        'BEGIN { printf "%.1f (%.1f)", n / s, n * cores / all }')
      line+=" ${rate[$column]} |"
    done
    for ((i = 0; i < count; i += (count + 2) / 3)); do
      name=$(printf %03d "$i").jpg
      [ ! -d out_loop ] || [ $filter != blur ] || cmp -s "out_convfilt/$name" "out_loop/$name" || { echo "the folder's $name differs from the single one" >&2; exit 1; }
      [ $filter = blur ] || continue
      difference=$(./opencv difference "out_convfilt/$name" "out_opencv/$name")
      awk -v d="$difference" 'BEGIN { exit !(d < 1) }' || { echo "$name is $difference steps from OpenCV's" >&2; exit 1; }
    done
    echo "$line $(ratio opencv) | $(ratio jpeg) |"
  done
done

# What a small folder costs, and what holds for one that mixes thumbnails and huge scans.
: >times_three
for ((round = 0; round < 3 * rounds; ++round)); do rm -rf out_three; timed "$convfilt" blur three out_three -q >>times_three; done
echo
echo "- Three pictures of 320×240: $(median <times_three | awk '{ printf "%.1f ms", $1 * 1000 }')."
mkdir mixed
for ((i = 1; i <= 10000 / share; ++i)); do ln three/001.jpg mixed/small$i.jpg; done
for ((i = 1; i <= 10; ++i)); do ln huge/000.jpg mixed/huge$i.jpg; done
limit=256
said=$({ /usr/bin/time -f '%M' "$convfilt" blur mixed out_mixed --quality 90 --max-memory ${limit}M --no-progress; } 2>&1)
echo "- $((10000 / share)) pictures of 320×240 and 10 of 200 megapixels, --max-memory ${limit}M: $(sed -n 's/^convfilt: //p' <<<"$said"); peak $(($(tail -1 <<<"$said") / 1024)) MiB."
