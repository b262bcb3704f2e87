#!/usr/bin/env bash
# Whole commands on photographs, on the CPU: convfilt beside a plain OpenCV program, vips, GraphicsMagick, ImageMagick and
# FFmpeg, where they are installed, by turns in one run on the same files; JPEG of quality 90, PNG of level 1. The pictures are
# those of tests/bench/photographs.py. Prints a table of the least times: wall milliseconds, and in brackets those of all cores (user and
# system); and how far outputs are from OpenCV's.
#
#   tests/bench/peers/cpu.sh [ROUNDS] [ROWS] [TYPE]    CONVFILT names the program, by default build/release/bin/convfilt;
#                                                      ROWS is a pattern of their titles, and TYPE is ppm to have all
#                                                      pictures without a codec, instead of jpg
#   tests/bench/peers/cpu.sh >peers.md && tests/bench/put_table.sh peers-cpu peers.md
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../../.."
convfilt=$(realpath "${CONVFILT:-build/release/bin/convfilt}")
rounds=${1:-5} rows=${2:-.} type=${3:-jpg}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
g++ -std=c++20 -O2 tests/bench/peers/opencv_filter.cpp -o "$work/opencv" -isystem /usr/include/opencv4 \
  -lopencv_core -lopencv_imgproc -lopencv_imgcodecs
for size in '12 4000x3000' '1 1155x866' '48 8000x6000'; do
  read -r megapixels size <<<"$size"
  tests/bench/photographs.py "$work" "$size" 1 >&2
  mv "$work/000.jpg" "$work/$megapixels.jpg"
done
cd "$work"
if [ "$type" != jpg ]; then for picture in 12 1 48; do "$convfilt" apply identity $picture.jpg "$picture.$type"; done; fi
"$convfilt" apply identity "12.$type" 12.png
matrix() { grep -v : | awk -v scale="$1" '{ row[NR] = $0; width = NF } END { print width, NR, scale, 0; for (i = 1; i <= NR; ++i) print row[i] }'; }
make_mask() {  # NAME OPTIONS...: for OpenCV and vips
  "$convfilt" mask make "$@" >made.txt
  matrix "$(sed -n 's/^scale: //p' made.txt)" <made.txt >"$1.mat"
}
make_mask disk --radius 10
make_mask motion --length 15 --angle 30
printf '5 5 5\n-3 0 -3\n-3 -3 -3\n' >kirsch; matrix 1 <kirsch >kirsch.mat
{ printf 'combine: max\nrotate: 8\n'; cat kirsch; } >kirsch.txt
for side in 3 5 9 15 31; do
  ./opencv weights $side >weights
  sum=$(tr ' ' '\n' <weights | awk '{ s += $1 } END { print s }')
  { echo "scale: $sum"; cat weights; } >mask$side.txt
  { echo "$side $side $sum 0"; cat weights; } >mask$side.mat
  tr '\n ' ',,' <weights | sed 's/,$//' >mask$side.gm
  tr '\n' ' ' <weights >mask$side.ff
done

ff() { echo "ffmpeg -nostdin -v error -y -i $1 -vf $2 $([[ $1 = *.png ]] && echo '-compression_level 1' || echo '-q:v 3') out_FFmpeg.${1##*.}"; }
vips_to() { case $3 in *.png) options='[compression=1]' ;; *.jpg) options='[Q=90]' ;; *) options= ;; esac; echo "vips $1 $3 out_vips.${3##*.}$options $2"; }
# Each row: a title, the kind of work with its number, and the picture.
command_of() {  # PEER KIND NUMBER IN: nothing where the peer has no such thing
  local q=; [[ $4 != *.jpg ]] || q='--quality 90'
  local convfilt_to="$4 out_convfilt.${4##*.} $q --device=cpu"
  case $1:$2 in
    convfilt:blur) echo "$convfilt blur $convfilt_to --sigma $3" ;;
    convfilt:motion) echo "$convfilt blur $convfilt_to --motion 15@30" ;;
    convfilt:disk) echo "$convfilt blur $convfilt_to --disk 10" ;;
    convfilt:sharpen) echo "$convfilt sharpen $convfilt_to --sigma $3" ;;
    convfilt:beyond) echo "$convfilt sharpen $convfilt_to --sigma $3 --threshold 3" ;;
    convfilt:sharpen-luma) echo "$convfilt sharpen $convfilt_to --sigma $3 --luma" ;;
    convfilt:edge) echo "$convfilt edge --color --sigma 0 --gain 4 $convfilt_to" ;;
    convfilt:luma) echo "$convfilt edge $convfilt_to --sigma $3" ;;
    convfilt:threshold) echo "$convfilt edge $convfilt_to --sigma $3 --threshold 40" ;;
    convfilt:kirsch) echo "$convfilt edge $convfilt_to --sigma $3 --method kirsch" ;;
    convfilt:canny) echo "$convfilt edge $convfilt_to --sigma $3 --method canny" ;;
    convfilt:compass) echo "$convfilt apply kirsch.txt $convfilt_to" ;;
    convfilt:mask) echo "$convfilt apply mask$3.txt $convfilt_to" ;;
    OpenCV:motion | OpenCV:disk) echo "./opencv $2 $4 out_OpenCV.${4##*.} $2.mat" ;;
    OpenCV:blur | OpenCV:sharpen | OpenCV:edge | OpenCV:luma | OpenCV:threshold | OpenCV:canny | OpenCV:mask)
      echo "./opencv $2 $4 out_OpenCV.${4##*.} $3" ;;
    vips:blur) vips_to gaussblur "$3" "$4" ;;
    vips:motion | vips:disk) vips_to conv "$2.mat --precision integer" "$4" ;;
    vips:sharpen-luma) vips_to sharpen "--sigma $3 --x1 0" "$4" ;;
    vips:sharpen | vips:beyond) vips_to sharpen "--sigma $3" "$4" ;;
    vips:edge) vips_to sobel '' "$4" ;;
    vips:canny) vips_to canny "--sigma $3" "$4" ;;
    vips:compass) vips_to compass 'kirsch.mat --times 8 --angle d45 --precision integer' "$4" ;;
    vips:mask) vips_to conv "mask$3.mat --precision integer" "$4" ;;
    gm:*) magick_command "$2" "$3" | sed "s|^..*|gm convert $4 & -quality 90 out_gm.${4##*.}|" ;;
    ImageMagick:*) magick_command "$2" "$3" ImageMagick | sed "s|^..*|$magick $4 & -quality 90 out_ImageMagick.${4##*.}|" ;;
    FFmpeg:blur) ff "$4" gblur=sigma=$3 ;;
    FFmpeg:sharpen-luma) ff "$4" unsharp=luma_msize_x=9:luma_msize_y=9:luma_amount=1 ;;
    FFmpeg:sharpen) ff "$4" unsharp=9:9:1:9:9:1 ;;
    FFmpeg:edge) ff "$4" sobel ;;
    FFmpeg:luma) ff "$4" "format=gray,gblur=sigma=$3,sobel" ;;
    FFmpeg:kirsch) ff "$4" "format=gray,gblur=sigma=$3,kirsch" ;;
    FFmpeg:canny) ff "$4" format=gray,edgedetect ;;
    FFmpeg:compass) ff "$4" kirsch ;;
  esac
}
magick_command() {  # KIND NUMBER [ImageMagick]
  case $1:${3:-} in
    blur:*) echo "-blur 0x$2" ;;
    motion:*) echo "-motion-blur 0x7+30" ;;
    disk:ImageMagick) echo "-morphology Convolve Disk:10" ;;
    sharpen:*) echo "-unsharp 0x$2+1+0" ;;
    beyond:*) echo "-unsharp 0x$2+1+0.012" ;;
    edge:) echo "-edge 1" ;;
    canny:ImageMagick) echo "-colorspace Gray -canny 0x$2+10%+25%" ;;
    compass:ImageMagick) echo "-define morphology:compose=Lighten -morphology Convolve Kirsch:@" ;;
    mask:) [ "$2" -gt 15 ] || echo "-convolve $(cat "mask$2.gm")" ;;
  esac
}
peers=(OpenCV)
for peer in vips gm; do ! command -v $peer >/dev/null || peers+=("$peer"); done
magick=$(command -v convert-im6.q16 || command -v magick || :)  # GraphicsMagick, too, may be `convert`
[ -z "$magick" ] || peers+=(ImageMagick)
! command -v ffmpeg >/dev/null || peers+=(FFmpeg)
peers+=(convfilt)

least() { sort -n "$1" | awk 'NR == 1 { printf "%.0f", $1 }'; }
TIMEFORMAT='%3R %3U %3S'
run() {  # PEER COMMAND...: appends wall and busy milliseconds
  local peer=$1; shift
  if ! { time "$@" >/dev/null 2>said; } 2>spent; then
    cat said >&2; echo "cpu.sh: this failed: $*" >&2
    [ "$peer" != convfilt ] || exit 1
    return 1
  fi
  read -r wall user system <spent
  awk -v w="$wall" -v u="$user" -v s="$system" 'BEGIN { print w * 1000; }' >>"$peer.wall"
  awk -v w="$wall" -v u="$user" -v s="$system" 'BEGIN { print (u + s) * 1000 }' >>"$peer.busy"
}
row() {  # TITLE KIND NUMBER IN
  local title=$1 peer line="| $1" measure share= failed=
  [[ $1 =~ $rows ]] || return 0
  shift
  rm -f -- *.wall *.busy out_*
  for ((round = 0; round <= rounds; ++round)); do
    for peer in "${peers[@]}"; do
      read -ra words <<<"$(command_of "$peer" "$@")"
      [ ${#words[@]} -gt 0 ] && [[ $failed != *" $peer "* ]] || continue
      # What takes seconds is measured once.
      [ "$round" -eq 0 ] || [ "$(least "$peer.wall")" -lt 3000 ] || continue
      [ "$round" -ne 1 ] || rm -f "$peer.wall" "$peer.busy"  # the first is to warm up
      run "$peer" "${words[@]}" || { failed+=" $peer "; rm -f "$peer.wall" "$peer.busy"; }
    done
  done
  for peer in "${peers[@]}"; do
    [ -e "$peer.wall" ] || { line+=" |"; continue; }
    line+=" | $(least "$peer.wall") ($(least "$peer.busy"))"
  done
  for measure in wall busy; do
    share+=" $(for peer in "${peers[@]}"; do [ ! -e "$peer.$measure" ] || least "$peer.$measure"; echo; done | grep . |
      awk '{ own = $1; if (NR > 1 && (!best || last < best)) best = last; last = $1 } END { printf "%.2f", own / best }')"
  done
  read -ra share <<<"$share"
  line+=" | ${share[0]} (${share[1]}) | "
  [ ! -e "out_OpenCV.${3##*.}" ] || line+=$(./opencv difference "out_OpenCV.${3##*.}" "out_convfilt.${3##*.}")
  echo "$line |"
}
peaks() {  # TITLE IN
  local line="| $1" peer
  [[ $1 =~ $rows ]] || return 0
  for peer in "${peers[@]}"; do
    read -ra words <<<"$(command_of "$peer" blur 2 "$2")"
    line+=" | $(/usr/bin/time -q -o peak -f %M "${words[@]}" >/dev/null 2>&1 && awk '{ printf "%.0f", $1 / 1024 }' peak || :)"
  done
  echo "$line | | |"
}

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, the least of $rounds: wall ms (ms of all cores). \
Share: convfilt's times over the least of the others. Difference: mean distance from OpenCV's, in steps."
echo
{ printf '| whole command'; printf ' | %s' "${peers[@]}"; echo " | share | difference |"; }
{ printf '|---'; for peer in "${peers[@]}"; do printf '|---:'; done; echo '|---:|---:|'; }
row "12-megapixel JPEG, blur, sigma 2" blur 2 12.$type
row "sigma 12" blur 12 12.$type
row "sigma 40" blur 40 12.$type
row "motion 15" motion 0 12.$type
row "disk 10" disk 0 12.$type
row "sharpen, sigma 2" sharpen 2 12.$type
row "sharpen from 3 on" beyond 2 12.$type
row "sharpen, luma" sharpen-luma 2 12.$type
row "edge, Sobel of colours" edge 0 12.$type
row "edge, luma, sigma 1" luma 1 12.$type
row "edge, kirsch" kirsch 1 12.$type
row "edge, threshold" threshold 1 12.$type
row "edge, canny" canny 1 12.$type
row "Kirsch's eight masks" compass 0 12.$type
for side in 3 5 9 15 31; do row "mask ${side}×$side" mask $side 12.$type; done
row "1-megapixel JPEG, blur" blur 2 1.$type
row "1-megapixel JPEG, Sobel" edge 0 1.$type
row "12-megapixel PNG, blur" blur 2 12.png
row "48-megapixel JPEG, blur" blur 2 48.$type
peaks "peak MiB, 12 megapixels, blur" 12.$type
peaks "peak MiB, 48 megapixels, blur" 48.$type
[[ --version =~ $rows ]] || exit 0
rm -f -- *.wall *.busy
for ((round = 0; round <= 4 * rounds; ++round)); do
  run convfilt "$convfilt" --version
  ! command -v vips >/dev/null || run vips vips --version
  ! command -v gm >/dev/null || run gm gm version
  [ -z "$magick" ] || run ImageMagick "$magick" -version
  ! command -v ffmpeg >/dev/null || run FFmpeg ffmpeg -version
done
line="| \`--version\` | |"
for peer in "${peers[@]:1}"; do line+=" $(least "$peer.wall") |"; done
echo "$line | |"
"$convfilt" blur 12.$type convfilt.png --sigma 2 --device=cpu
./opencv distance 12.$type convfilt.png 2 >&2
