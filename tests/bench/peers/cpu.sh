#!/usr/bin/env bash
# Whole commands on photographs, on the CPU: convfilt beside a plain OpenCV program, vips, GraphicsMagick and FFmpeg, where
# they are installed, by turns in one run on the same files; JPEG of quality 90, PNG of level 1. Prints a table of medians:
# wall milliseconds, and in brackets those of all cores (user and system); and how far outputs are from OpenCV's.
#
#   tests/bench/peers/cpu.sh [ROUNDS] [PHOTOGRAPH]     CONVFILT names the program, by default build/release/bin/convfilt;
#                                                      the photograph is one that this script makes unless named
#   tests/bench/peers/cpu.sh >peers.md && tests/bench/put_table.sh peers-cpu peers.md
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
export LC_ALL=C
photograph=${2:+$(realpath "$2")}
cd "$(dirname "$0")/../../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
rounds=${1:-5}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
g++ -std=c++20 -O2 tests/bench/peers/opencv_filter.cpp -o "$work/opencv" -isystem /usr/include/opencv4 \
  -lopencv_core -lopencv_imgproc -lopencv_imgcodecs
cd "$work"
./opencv make "${photograph:-$OLDPWD/samples/rocket.jpg}" 12.jpg 4000 3000
./opencv make "${photograph:-$OLDPWD/samples/rocket.jpg}" 1.jpg 1155 866
./opencv make "${photograph:-$OLDPWD/samples/rocket.jpg}" 48.jpg 8000 6000
"$convfilt" apply identity 12.jpg 12.png
for side in 3 5 9 15 31; do
  ./opencv weights $side >weights
  sum=$(tr ' ' '\n' <weights | awk '{ s += $1 } END { print s }')
  { echo "scale: $sum"; cat weights; } >mask$side.txt
  { echo "$side $side $sum 0"; cat weights; } >mask$side.mat
  tr '\n ' ',,' <weights | sed 's/,$//' >mask$side.gm
  tr '\n' ' ' <weights >mask$side.ff
done

ff() { echo "ffmpeg -nostdin -v error -y -i $1 -vf $2 $([[ $1 = *.png ]] && echo '-compression_level 1' || echo '-q:v 3') out_ffmpeg.${1##*.}"; }
vips_out() { [[ $1 = *.png ]] && echo 'out_vips.png[compression=1]' || echo 'out_vips.jpg[Q=90]'; }
# Each row: a title, the kind of work with its number, and the picture.
command_of() {  # PEER KIND NUMBER IN: nothing where the peer has no such thing
  local q=; [[ $4 = *.png ]] || q='--quality 90'
  case $1:$2 in
    convfilt:blur) echo "$convfilt blur $4 out_convfilt.${4##*.} --sigma $3 $q --device=cpu" ;;
    convfilt:sharpen) echo "$convfilt sharpen $4 out_convfilt.${4##*.} --sigma $3 $q --device=cpu" ;;
    convfilt:edge) echo "$convfilt edge --color --sigma 0 --gain 4 $4 out_convfilt.${4##*.} $q --device=cpu" ;;
    convfilt:mask) echo "$convfilt apply mask$3.txt $4 out_convfilt.${4##*.} $q --device=cpu" ;;
    OpenCV:*) echo "./opencv $2 $4 out_OpenCV.${4##*.} $3" ;;
    vips:blur) echo "vips gaussblur $4 $(vips_out "$4") $3" ;;
    vips:sharpen) echo "vips sharpen $4 $(vips_out "$4") --sigma $3" ;;
    vips:edge) echo "vips sobel $4 $(vips_out "$4")" ;;
    vips:mask) echo "vips conv $4 $(vips_out "$4") mask$3.mat --precision integer" ;;
    gm:blur) echo "gm convert $4 -blur 0x$3 -quality 90 out_gm.${4##*.}" ;;
    gm:sharpen) echo "gm convert $4 -unsharp 0x$3+1+0 -quality 90 out_gm.${4##*.}" ;;
    gm:edge) echo "gm convert $4 -edge 1 -quality 90 out_gm.${4##*.}" ;;
    gm:mask) [ "$3" -gt 15 ] || echo "gm convert $4 -convolve $(cat mask$3.gm) -quality 90 out_gm.${4##*.}" ;;
    FFmpeg:blur) ff "$4" gblur=sigma=$3 ;;
    FFmpeg:sharpen) ff "$4" unsharp=luma_msize_x=9:luma_msize_y=9:luma_amount=1 ;;
    FFmpeg:edge) ff "$4" sobel ;;
  esac
}
peers=(OpenCV)
for peer in vips gm ffmpeg; do command -v $peer >/dev/null && peers+=("${peer/ffmpeg/FFmpeg}"); done
peers+=(convfilt)

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { if (NR) printf "%.0f", v[int((NR + 1) / 2)] }'; }
TIMEFORMAT='%3R %3U %3S'
run() {  # PEER COMMAND...: appends wall and busy milliseconds
  local peer=$1; shift
  { time "$@" >/dev/null 2>said; } 2>spent || { cat said >&2; echo "cpu.sh: this failed: $*" >&2; exit 1; }
  read -r wall user system <spent
  awk -v w="$wall" -v u="$user" -v s="$system" 'BEGIN { print w * 1000; }' >>"$peer.wall"
  awk -v w="$wall" -v u="$user" -v s="$system" 'BEGIN { print (u + s) * 1000 }' >>"$peer.busy"
}
row() {  # TITLE KIND NUMBER IN
  local title=$1 peer line="| $1" best=
  shift
  rm -f -- *.wall *.busy
  for ((round = 0; round <= rounds; ++round)); do
    for peer in "${peers[@]}"; do
      read -ra words <<<"$(command_of "$peer" "$@")"
      [ ${#words[@]} -gt 0 ] || continue
      # What takes seconds is measured once.
      [ "$round" -le 1 ] || [ "$(median "$peer.wall")" -lt 3000 ] || continue
      run "$peer" "${words[@]}"
      [ "$round" -gt 0 ] || rm -f "$peer.wall" "$peer.busy"  # the first is to warm up
    done
  done
  for peer in "${peers[@]}"; do
    [ -e "$peer.wall" ] || { line+=" |"; continue; }
    line+=" | $(median "$peer.wall") ($(median "$peer.busy"))"
    [ "$peer" = convfilt ] || best+=" $(median "$peer.wall")"
  done
  best=$(tr ' ' '\n' <<<"$best" | grep . | sort -n | head -n 1)
  line+=" | $(awk -v c="$(median convfilt.wall)" -v b="$best" 'BEGIN { printf "%.2f", c / b }')"
  line+=" | $(./opencv difference "out_OpenCV.${3##*.}" "out_convfilt.${3##*.}") |"
  echo "$line"
}
peaks() {  # TITLE IN
  local line="| $1" peer
  for peer in "${peers[@]}"; do
    read -ra words <<<"$(command_of "$peer" blur 2 "$2")"
    line+=" | $(/usr/bin/time -f %M "${words[@]}" 2>&1 >/dev/null | tail -n 1 | awk '{ printf "%.0f", $1 / 1024 }')"
  done
  echo "$line | | |"
}

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, medians of $rounds: wall ms (ms of all cores). \
Share: convfilt's time over the fastest other's. Difference: its pixels' mean distance from OpenCV's, in steps."
echo
{ printf '| whole command'; printf ' | %s' "${peers[@]}"; echo " | share | difference |"; }
{ printf '|---'; for peer in "${peers[@]}"; do printf '|---:'; done; echo '|---:|---:|'; }
row "12-megapixel JPEG, blur, sigma 2" blur 2 12.jpg
row "sigma 40" blur 40 12.jpg
row "sharpen, sigma 2" sharpen 2 12.jpg
row "edge, Sobel" edge 0 12.jpg
for side in 3 5 9 15 31; do row "mask ${side}×$side" mask $side 12.jpg; done
row "1-megapixel JPEG, blur" blur 2 1.jpg
row "1-megapixel JPEG, Sobel" edge 0 1.jpg
row "12-megapixel PNG, blur" blur 2 12.png
row "48-megapixel JPEG, blur" blur 2 48.jpg
peaks "peak MiB, 12 megapixels, blur" 12.jpg
peaks "peak MiB, 48 megapixels, blur" 48.jpg
rm -f -- *.wall *.busy
for ((round = 0; round <= 4 * rounds; ++round)); do
  run convfilt "$convfilt" --version
  ! command -v vips >/dev/null || run vips vips --version
  ! command -v gm >/dev/null || run gm gm version
  ! command -v ffmpeg >/dev/null || run FFmpeg ffmpeg -version
done
line="| \`--version\` | |"
for peer in "${peers[@]:1}"; do line+=" $(median "$peer.wall") |"; done
echo "$line | |"
"$convfilt" blur 12.jpg convfilt.png --sigma 2 --device=cpu
./opencv distance 12.jpg convfilt.png 2 >&2
