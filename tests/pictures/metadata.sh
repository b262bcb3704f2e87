#!/usr/bin/env bash
# The round trip of metadata: what exiftool puts into JPEG, PNG, TIFF and WebP goes through convfilt into each of them, and
# exiftool reads it again. Prints a table of format × format × kind and fails where something is lost or changed.
#
#   CONVFILT=… tests/pictures/metadata.sh
#
# Cells: kept (the same bytes, or the same values), upright (says 1, with pixels and resolution turned), dropped (as wanted),
# profile alone, no place (the format has none, and convfilt says so), LOST; empty where the input's format cannot have it.
# The turned pixels are compared with those of vips where that is installed.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
CONVFILT=$(realpath "${CONVFILT:?names the program}")
command -v exiftool >/dev/null || { echo "skipped: exiftool is not installed (Debian: libimage-exiftool-perl)"; exit 77; }
export XDG_CONFIG_HOME=/nonexistent
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
readonly formats=(jpg png tif webp)
declare -A name=([jpg]=JPEG [png]=PNG [tif]=TIFF [webp]=WebP) cells=()
kinds=()

# What is once marked LOST stays so, whatever else is asked about that kind and pair.
mark() {  # FROM TO KIND WORD [WHY]
  [[ " ${kinds[*]// /_} " == *" ${3// /_} "* ]] || kinds+=("$3")
  [ "$4" != LOST ] || echo "LOST: $1 to $2, $3: ${5:-}" >&2
  local word=$4
  case $3,$4 in
    orientation,kept) word=upright ;;
    thumbnail,kept | "foreign ICC,no place") word=dropped ;;
    --strip,kept) word="profile alone" ;;
  esac
  [ "${cells[$1 $2 $3]:-}" = LOST ] || cells[$1 $2 $3]=$word
}
# KIND is kept from FROM to TO if the two strings are the same.
expect() {  # FROM TO KIND WANTED GOT
  if [ "$4" = "$5" ]; then mark "$1" "$2" "$3" kept; else mark "$1" "$2" "$3" LOST "'$5' instead of '$4'"; fi
}
run() { "$CONVFILT" apply identity "$@" --device cpu; }
tool() { exiftool -q -q -m -overwrite_original "$@"; }
# A line a file, values apart by tabs, "-" where there is none.
values() { exiftool -q -q -m -T -f -n -sep '; ' "$@"; }
# Goes through all pairs: in/KIND.FROM becomes out/KIND-FROM.TO, and its messages out/KIND-FROM.TO.said.
through() {  # KIND [OPTION...]
  local kind=$1 from to; shift
  for from in "${formats[@]}"; do
    [ -e "in/$kind.$from" ] || continue
    for to in "${formats[@]}"; do
      run "in/$kind.$from" "out/$kind-$from.$to" "$@" 2>"out/$kind-$from.$to.said" ||
        mark "$from" "$to" "$kind" LOST "$(cat "out/$kind-$from.$to.said")"
    done
  done
}
inputs() { printf "in/$1.%s\n" "${formats[@]}"; }
outputs() { local from to; for from in "${formats[@]}"; do for to in "${formats[@]}"; do echo "out/$1-$from.$to"; done; done; }
# Calls a function with FROM, TO and the values of each output of a kind.
each_output() {  # FUNCTION KIND TAG...
  local from to line function=$1 kind=$2; shift 2
  # shellcheck disable=SC2046  # names without blanks
  values "$@" $(outputs "$kind") >lines
  exec 3<lines
  for from in "${formats[@]}"; do
    for to in "${formats[@]}"; do
      IFS= read -r line <&3 || line="nothing was read"
      "$function" "$from" "$to" "$line"
    done
  done
  exec 3<&-
}

# ---- what goes in -----------------------------------------------------------------------------

mkdir in out
number() { local i; for ((i = 24; i >= 0; i -= 8)); do printf "\\x$(printf %02x $(($1 >> i & 255)))"; done; }
# A profile that has a head and one tag, a text that fills it.
profile() {  # SPACE BYTES
  number "$2"
  printf 'lcms\2\40\0\0mntr%sXYZ \7\350\0\1\0\1\0\0\0\0\0\0acsp' "$1"
  head -c 28 /dev/zero
  printf '\0\0\366\326\0\1\0\0\0\0\323\55'
  head -c 48 /dev/zero
  number 1; printf cprt; number 144; number $(($2 - 144))
  printf 'text\0\0\0\0'
  head -c $(($2 - 153)) < <(yes 'No copyright, use it freely.' || true); printf '\0'
}
profile 'RGB ' 600 >rgb.icc
profile GRAY 600 >grey.icc
profile 'RGB ' 200001 >large.icc
# An XMP packet that tells an orientation, too.
packet() {  # ORIENTATION DESCRIPTION_BYTES
  printf '<?xpacket begin="\357\273\277" id="W5M0MpCehiHzreSzNTczkc9d"?>\n<x:xmpmeta xmlns:x="adobe:ns:meta/">\n'
  printf '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
  printf '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"'
  printf ' tiff:Orientation="%s">\n' "$1"
  printf '<dc:subject><rdf:Bag><rdf:li>one</rdf:li><rdf:li>zw\303\266lf</rdf:li></rdf:Bag></dc:subject>\n'
  printf '<dc:description><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></dc:description>\n' \
    "$(head -c "$2" < <(yes 'All that can be said of it' || true) | tr '\n' ' ')"
  printf '</rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end="w"?>'
}
packet 1 80 >small.xmp
packet 1 150000 >large.xmp
# EXIF of a camera whose note lies at a place of its own, as offsets within it would want.
note='A note in words that only its maker knows'
le() { local i; for ((i = 0; i < $1; ++i)); do printf "\\x$(printf %02x $(($2 >> 8 * i & 255)))"; done; }
entry() { le 2 "$1"; le 2 "$2"; le 4 "$3"; le 4 "$4"; }
{
  printf 'II*\0'; le 4 8
  le 2 2; entry 271 2 7 60; entry 34665 4 1 38; le 4 0
  le 2 1; entry 37500 7 ${#note} 300; le 4 0; le 4 0
  printf 'Camera\0'; head -c 233 /dev/zero; printf %s "$note"
} >camera.exif
printf 'P6\n24 16\n255\n%s' "$(seq -s ' ' 1 400 | head -c 1152)" >plain.ppm
run plain.ppm thumbnail.jpg
for format in "${formats[@]}"; do run plain.ppm "in/plain.$format"; done

description=(-IFD0:Model='Model 7' -ExifIFD:DateTimeOriginal='2024:02:29 12:34:56' -ExifIFD:ExposureTime=1/250 -IFD0:Artist=Ann
  -ExifIFD:UserComment='Grüße aus Łódź' -GPS:GPSLatitude=52.52 -GPS:GPSLatitudeRef=S -GPS:GPSLongitude=13.405
  -GPS:GPSLongitudeRef=W -GPS:GPSAltitude=34.5 -InteropIFD:InteropIndex=R98)
described=$'Camera\tModel 7\t2024:02:29 12:34:56\t0.004\tAnn\tGrüße aus Łódź\t52.52\tS\t13.405\tW\t34.5\tR98'
exif_tags=(-IFD0:Make -IFD0:Model -ExifIFD:DateTimeOriginal -ExifIFD:ExposureTime -IFD0:Artist -ExifIFD:UserComment
  -GPS:GPSLatitude -GPS:GPSLatitudeRef -GPS:GPSLongitude -GPS:GPSLongitudeRef -GPS:GPSAltitude -InteropIFD:InteropIndex)
iptc=(-IPTC:Keywords=alpha -IPTC:Keywords='beta, gamma' -IPTC:Caption-Abstract='What is to be seen.' -IPTC:City=Berlin)
iptc_tags=(-IPTC:Keywords -IPTC:Caption-Abstract -IPTC:City)
captioned=$'alpha; beta, gamma\tWhat is to be seen.\tBerlin'

for format in "${formats[@]}"; do cp in/plain.$format in/all.$format; done
tool '-exif<=camera.exif' in/all.jpg in/all.png in/all.webp
tool -tagsfromfile in/all.jpg -IFD0:Make -MakerNotes in/all.tif   # a TIFF's EXIF is no block
# shellcheck disable=SC2046
tool "${description[@]}" '-XMP<=small.xmp' '-icc_profile<=rgb.icc' $(inputs all)
tool "${iptc[@]}" in/all.jpg in/all.png in/all.tif
# exiftool puts a resolution of 72 beside the first EXIF; where the format has a place of its own, that one stands alone.
tool -IFD0:XResolution= -IFD0:YResolution= -IFD0:ResolutionUnit= in/all.jpg in/all.png
tool -JFIF:XResolution=300 -JFIF:YResolution=150 -JFIF:ResolutionUnit=inches in/all.jpg
tool -PNG-pHYs:PixelsPerUnitX=11811 -PNG-pHYs:PixelsPerUnitY=5906 -PNG-pHYs:PixelUnits=meters in/all.png
tool -IFD0:XResolution=300 -IFD0:YResolution=150 -IFD0:ResolutionUnit=inches in/all.tif in/all.webp
tool '-ThumbnailImage<=thumbnail.jpg' in/all.jpg in/all.png in/all.webp   # a second directory of a TIFF is another picture
for format in "${formats[@]}"; do cp in/all.$format in/large.$format; done
tool -tagsfromfile large.xmp -XMP:all in/large.jpg   # a whole packet exiftool does not cut in two
tool '-XMP<=large.xmp' in/large.png in/large.tif in/large.webp
# shellcheck disable=SC2046
tool '-icc_profile<=large.icc' $(inputs large)

# ---- what comes out ---------------------------------------------------------------------------

# exiftool reads what it wrote itself, or the table would say nothing.
# shellcheck disable=SC2046
[ "$(values "${exif_tags[@]}" $(inputs all) | sort -u)" = "$described" ] || { echo "an input lacks EXIF" >&2; exit 1; }
[ "$(values "${iptc_tags[@]}" in/all.jpg in/all.png in/all.tif | sort -u)" = "$captioned" ] || { echo "an input lacks IPTC" >&2; exit 1; }
[ "$(values -IFD1:ThumbnailLength in/all.jpg in/all.png in/all.webp | sort -u)" = "$(stat -c %s thumbnail.jpg)" ] ||
  { echo "an input lacks its thumbnail" >&2; exit 1; }

# Blocks of bytes as exiftool takes them out: FILE.icc_profile, FILE.xmp. exiftool marks the packet of a PNG as one that is
# not to be edited, so that its inputs' packets are not all the same.
blocks() {  # icc_profile|xmp FILE...
  exiftool -q -q -m -b "-$1" -w! "%d%f.%e.$1" "${@:2}" || true
}
expect_block() {  # KIND FROM TO OUTPUT BLOCK WANTED
  if cmp -s "$4.$5" "$6"; then mark "$2" "$3" "$1" kept; else mark "$2" "$3" "$1" LOST "other bytes than in $6"; fi
}
# The words of a warning without the name of its file.
said() { sed 's/^convfilt: warning: [^:]*: //' "$1.said"; }

through all
# shellcheck disable=SC2046
blocks icc_profile $(outputs all)
# shellcheck disable=SC2046
blocks xmp $(outputs all) $(inputs all)
on_exif() { expect "$1" "$2" EXIF "$described" "$3"; }
on_note() { expect "$1" "$2" "maker note" "$note" "$3"; }
# WebP's chunks are ICCP, EXIF and XMP: https://developers.google.com/speed/webp/docs/riff_container
on_iptc() {
  [ "$1" != webp ] || return 0
  if [ "$2" != webp ]; then expect "$1" "$2" IPTC "$captioned" "$3"
  elif [ "$(said "out/all-$1.$2")" = "WebP has no place for IPTC; it is left out" ]; then mark "$1" "$2" IPTC "no place"
  else mark "$1" "$2" IPTC LOST "and nobody was told"; fi
}
on_thumbnail() { [ "$1" = tif ] || expect "$1" "$2" thumbnail $'-\t-' "$3"; }
# WIDTH and HEIGHT in pixels per inch; each place that tells a resolution must tell this one, and the format's own must tell it.
resolution_tags=(-JFIF:XResolution -JFIF:YResolution -JFIF:ResolutionUnit -PNG-pHYs:PixelsPerUnitX -PNG-pHYs:PixelsPerUnitY
  -PNG-pHYs:PixelUnits -IFD0:XResolution -IFD0:YResolution -IFD0:ResolutionUnit)
expect_resolution() {  # FROM TO KIND X Y LINE
  if awk -F'\t' -v to="$2" -v x="$4" -v y="$5" '
      function near(got, wanted) { return got - wanted < 0.02 && wanted - got < 0.02 }
      { own = to == "jpg" ? 1 : to == "png" ? 4 : 7
        if ($own == "-") exit 1
        for (k = 1; k <= 7; k += 3) {
          if ($k == "-") continue
          factor = k == 4 ? 0.0254 : 1
          if (!near($k * factor, x) || !near($(k + 1) * factor, y) || $(k + 2) != (k == 7 ? 2 : 1)) exit 1  # inches or metres
        } }' <<<"$6"; then
    mark "$1" "$2" "$3" kept
  else
    mark "$1" "$2" "$3" LOST "not $4×$5 but $6"
  fi
}
on_resolution() { expect_resolution "$1" "$2" resolution 300 150 "$3"; }
for from in "${formats[@]}"; do
  for to in "${formats[@]}"; do
    expect_block ICC $from $to out/all-$from.$to icc_profile rgb.icc
    expect_block XMP $from $to out/all-$from.$to xmp in/all.$from.xmp
  done
done
each_output on_exif all "${exif_tags[@]}"
each_output on_note all -ExifIFD:MakerNoteUnknownText
each_output on_iptc all "${iptc_tags[@]}"
each_output on_resolution all "${resolution_tags[@]}"
each_output on_thumbnail all -IFD1:ThumbnailOffset -IFD1:ThumbnailLength

# A JPEG's comment and a PNG's texts and colour space stay with their format. (A PNG has the comment, too; see extras.py.)
comment="What was said of it"
texts=$'Grüße\tAnn\t2.2'
text_tags=(-PNG:Title -PNG:Author -PNG:Gamma)
for format in jpg png; do cp in/all.$format in/own.$format; done
tool -File:Comment="$comment" in/own.jpg
tool -PNG:Title='Grüße' -PNG:Author=Ann -PNG:Gamma=2.2 in/own.png
[ "$(values -File:Comment in/own.jpg)" = "$comment" ] || { echo "an input lacks its comment" >&2; exit 1; }
[ "$(values "${text_tags[@]}" in/own.png)" = "$texts" ] || { echo "an input lacks its texts: $(values "${text_tags[@]}" in/own.png)" >&2; exit 1; }
through own
for from in jpg png; do
  for to in jpg png tif webp; do
    words=$(values -File:Comment "${text_tags[@]}" out/own-$from.$to)
    case $from,$to in
      jpg,jpg) expect jpg jpg "own words" "$comment"$'\t-\t-\t-' "$words" ;;
      png,png) expect png png "own words" $'-\t'"$texts" "$words" ;;
      *) [[ $words =~ ^[-$'\t']*$ ]] && mark $from $to "own words" dropped || mark $from $to "own words" LOST "came along as $words" ;;
    esac
  done
done
run in/own.jpg stripped.jpg --strip; run in/own.png stripped.png --strip
[ "$(values -File:Comment -PNG:Title -PNG:Author stripped.jpg stripped.png)" = $'-\t-\t-\n-\t-\t-' ] || mark jpg jpg "own words" LOST "--strip left some"
[ "$(values -PNG:Gamma stripped.png)" = 2.2 ] || mark png png "own words" LOST "--strip took the colour space"

# Large blocks: a JPEG has a profile in several segments, and XMP in an extension, which exiftool shows apart.
through large
# shellcheck disable=SC2046
blocks icc_profile $(outputs large)
# shellcheck disable=SC2046
values -XMP-dc:Description -XMP-dc:Subject $(inputs large) | sort -u >large.txt
[ "$(wc -lc <large.txt | xargs)" = "1 $((150000 + $(printf '\tone; zwölf\n' | wc -c)))" ] || { echo "an input lacks its large XMP" >&2; exit 1; }
on_large() { expect "$1" "$2" "large XMP" "$(md5sum <large.txt)" "$(md5sum <<<"$3")"; }
for from in "${formats[@]}"; do
  for to in "${formats[@]}"; do expect_block "large ICC" $from $to out/large-$from.$to icc_profile large.icc; done
done
each_output on_large large -XMP-dc:Description -XMP-dc:Subject

# --strip leaves the profile alone.
for from in "${formats[@]}"; do
  for to in "${formats[@]}"; do run in/all.$from out/strip-$from.$to --strip; done
done
# shellcheck disable=SC2046
blocks icc_profile $(outputs strip)
on_strip() {
  if cmp -s "out/strip-$1.$2.icc_profile" rgb.icc && [[ $3 =~ ^[-$'\t']*$ ]]; then mark "$1" "$2" --strip kept
  else mark "$1" "$2" --strip LOST "the profile or the rest: $3"; fi
}
each_output on_strip strip "${exif_tags[@]}" "${iptc_tags[@]}" -XMP -EXIF -XMP-dc:Subject -ExifIFD:MakerNoteUnknownText -IFD0:XResolution \
  -PNG-pHYs:PixelsPerUnitX -IFD1:ThumbnailLength

# Orientations: told once, as 1, wherever the input told it; pixels, sides and resolution turned.
turns=(2 3 4 5 6 7 8)
[ "${CONVFILT_TEST_SIZE:-}" = full ] || turns=(4 6)
turned=()
for turn in "${turns[@]}"; do
  packet $turn 20 >turned.xmp
  for from in "${formats[@]}"; do cp in/all.$from in/turn$turn.$from; done
  # shellcheck disable=SC2046
  tool -n -IFD0:Orientation=$turn '-XMP<=turned.xmp' $(inputs turn$turn)
  through turn$turn
  # shellcheck disable=SC2207
  turned+=($(inputs turn$turn) $(outputs turn$turn))
done
blocks xmp "${turned[@]}"
values -IFD0:Orientation "${resolution_tags[@]}" "${turned[@]}" >lines
vips=true
command -v vips >/dev/null || { vips=false; echo "vips is not installed, so the turned pixels are compared with nothing" >&2; }
exec 3<lines
for turn in "${turns[@]}"; do
  x=300 y=150
  [ $turn -lt 5 ] || { x=150; y=300; }
  for from in "${formats[@]}"; do
    IFS=$'\t' read -r said _ <&3
    [ "$said" = $turn ] && grep -q "tiff:Orientation=\"$turn\"" in/turn$turn.$from.xmp || { echo "an input lacks its orientation" >&2; exit 1; }
    sed -i "s/tiff:Orientation=\"$turn\"/tiff:Orientation=\"1\"/" in/turn$turn.$from.xmp
  done
  for from in "${formats[@]}"; do
    if $vips; then vips autorot in/turn$turn.$from turned.ppm; run turned.ppm same.ppm --strip; fi
    for to in "${formats[@]}"; do
      IFS= read -r line <&3
      expect_resolution $from $to orientation $x $y "${line#*$'\t'}"
      [[ ${line%%$'\t'*} =~ ^[1-]$ ]] || mark $from $to orientation LOST "$turn became ${line%%$'\t'*}"
      expect_block orientation $from $to out/turn$turn-$from.$to xmp in/turn$turn.$from.xmp
      # A JPEG's pixels have been coded a second time.
      if $vips && [ $to != jpg ]; then
        run out/turn$turn-$from.$to turned.ppm -q
        cmp -s same.ppm turned.ppm || mark $from $to orientation LOST "$turn: other pixels than those of vips"
      fi
    done
  done
done
exec 3<&-

# A camera's JPEG without JFIF, and a WebP, tell their resolution only by EXIF.
cp in/plain.webp in/exif.webp
"$CONVFILT" apply identity in/plain.jpg whole.jpg
{ head -c 2 whole.jpg; tail -c +21 whole.jpg; } >in/exif.jpg   # without the 18 bytes of APP0
tool -IFD0:XResolution=300 -IFD0:YResolution=150 -IFD0:ResolutionUnit=inches in/exif.jpg in/exif.webp
[ "$(values -JFIF:XResolution -IFD0:XResolution in/exif.jpg)" = $'-\t300' ] || { echo "the JPEG without JFIF is none" >&2; exit 1; }
through exif
values "${resolution_tags[@]}" out/exif-{jpg,webp}.{jpg,png,tif,webp} >lines
exec 3<lines
for from in jpg webp; do
  for to in "${formats[@]}"; do IFS= read -r line <&3; expect_resolution $from $to resolution 300 150 "$line"; done
done
exec 3<&-

# Profiles go only with the colours that they are for; what is left out is said.
foreign="the colour profile is for other colours than those that the FORMAT has, and is left out"
expect_profile() {  # KIND FROM TO PICTURE PROFILE|none
  if [ "$5" = none ]; then
    if [ -e "$4.icc_profile" ]; then mark "$2" "$3" "$1" LOST "a foreign profile came along"
    elif said "$4" | sed "s/that the ${name[$3]} has/that the FORMAT has/" | grep -qxF "$foreign"; then mark "$2" "$3" "$1" "no place"
    else mark "$2" "$3" "$1" LOST "and nobody was told, but: $(said "$4")"; fi
  else expect_block "$1" "$2" "$3" "$4" icc_profile "$5"; fi
}
printf 'P5\n24 16\n255\n%s' "$(seq -s ' ' 1 400 | head -c 384)" >grey8.pgm
printf 'P5\n24 16\n65535\n%s' "$(seq -s ' ' 1 400 | head -c 768)" >grey16.pgm
printf 'P6\n24 16\n65535\n%s' "$(seq -s ' ' 1 999 | head -c 2304)" >deep.ppm
for from in jpg png tif; do run grey8.pgm in/grey8.$from; cp in/grey8.$from in/foreign.$from; done
for from in png tif; do run grey16.pgm in/grey16.$from; run deep.ppm in/deep.$from; done
tool '-icc_profile<=grey.icc' in/grey*
tool '-icc_profile<=rgb.icc' in/deep* in/foreign*
for kind in grey8 grey16 deep foreign; do through $kind; done
blocks icc_profile out/{grey8,grey16,deep,foreign}-*.{jpg,png,tif,webp}
for from in jpg png tif; do
  for to in "${formats[@]}"; do
    expected=grey.icc
    [ $to != webp ] || expected=none   # WebP has no grey
    for kind in grey8 grey16; do
      [ ! -e in/$kind.$from ] || expect_profile "grey ICC" $from $to out/$kind-$from.$to $expected
    done
    [ ! -e in/deep.$from ] || expect_profile "ICC" $from $to out/deep-$from.$to rgb.icc
  done
done
# A profile for colours does not stay with a grey picture. TIFF's is left out as soon as it is read.
for from in jpg png; do
  for to in jpg png tif; do expect_profile "foreign ICC" $from $to out/foreign-$from.$to none; done
done

# EXIF that a JPEG's one segment cannot hold is left out, which is said.
head -c 70000 < <(yes 'long words' || true) | tr '\n' ' ' >long.txt
for from in png webp; do cp in/plain.$from in/huge.$from; done
tool -IFD0:Make=Camera '-ExifIFD:UserComment<=long.txt' in/huge.png in/huge.webp
through huge
values -ExifIFD:UserComment out/huge-{png,webp}.{jpg,png,tif,webp} >lines
exec 3<lines
for from in png webp; do
  for to in "${formats[@]}"; do
    IFS= read -r line <&3
    if [ $to != jpg ]; then
      if [ "$line" = "$(cat long.txt)" ]; then mark $from $to "EXIF over 64 KiB" kept; else mark $from $to "EXIF over 64 KiB" LOST "${line::99}"; fi
    elif [ "$line" = - ] && [ "$(said out/huge-$from.$to)" = "its EXIF data are larger than a JPEG holds and are left out" ]; then
      mark $from $to "EXIF over 64 KiB" "no place"
    else
      mark $from $to "EXIF over 64 KiB" LOST "and this was said: $(said out/huge-$from.$to)"
    fi
  done
done
exec 3<&-

# ---- the table --------------------------------------------------------------------------------

printf '| from, to |'; printf ' %s |' "${kinds[@]}"; echo
printf '|---|'; printf -- '---|%.0s' "${kinds[@]}"; echo
declare -A counts=()
for from in "${formats[@]}"; do
  for to in "${formats[@]}"; do
    printf '| %s, %s |' "${name[$from]}" "${name[$to]}"
    for kind in "${kinds[@]}"; do
      word=${cells[$from $to $kind]:-}
      printf ' %s |' "$word"
      [ -z "$word" ] || counts[$word]=$((${counts[$word]:-0} + 1))
    done
    echo
  done
done
for word in kept upright dropped "profile alone" "no place" LOST; do printf '%s %s, ' "$word" "${counts[$word]:-0}"; done | sed 's/, $/\n/'
[ "${counts[LOST]:-0}" = 0 ]
