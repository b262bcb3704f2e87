#!/usr/bin/env bash
# Draws edges.png: five photographs, their edges as earlier builds found them (each channel's, without a Gaussian), and those of
# today. Prints a table: the share of samples at 255, and the mean. Needs ImageMagick.
#
#   samples/edges.sh [OUT.png]     CONVFILT names the program
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
samples=$(dirname "$0") out=${1:-$(dirname "$0")/edges.png}
convfilt=${CONVFILT:-$(command -v convfilt || "$samples/setup.sh" release convfilt)}
magick=$(command -v magick || command -v convert-im6.q16 || command -v convert)
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
of_old='--color --sigma 0 --method'
looks=("$of_old sobel --gain 4" "$of_old scharr --gain 16" "$of_old laplacian --gain 1"
  '--method sobel' '--method scharr' '--method laplacian' '--method log' '--method canny')
echo '| edge: share of samples at 255, mean | sobel of old | scharr of old | laplacian of old | sobel | scharr | laplacian | log | canny |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|'
for photograph in "$samples"/{astronaut.png,camera.png,chelsea.png,coffee.png,rocket.jpg}; do
  name=$(basename "${photograph%.*}") tiles=("$photograph") line="| $(basename "${photograph%.*}")"
  for k in "${!looks[@]}"; do
    tile=$work/$name-$k.pnm
    # shellcheck disable=SC2086  # several options
    "$convfilt" edge ${looks[k]} "$photograph" "$tile" --quiet
    line+=$("$magick" "$tile" -depth 8 \( +clone -threshold 99.9% \) -format '%[fx:mean*255] ' info: |
      awk '{ printf " | %.1f %%, %.1f", $2 / 2.55, $1 }')
    tiles+=("$tile")
  done
  echo "$line |"
  # The middle, in its own size.
  "$magick" "${tiles[@]}" -depth 8 -gravity center -crop 150x110+0+0 +repage -bordercolor white -border 1 \
    -colorspace sRGB +append "$work/row-$name.png"
done
"$magick" "$work"/row-*.png -append -colors 96 -define png:compression-level=9 "PNG8:$out"
