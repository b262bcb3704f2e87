# The EXIF orientation is applied once: the picture is turned, and the output says nothing of turning.
printf 'P5\n16 8\n255\n' >in.pgm
for y in 0 1 2 3 4 5 6 7; do   # the left half black, the right one white; lower half grey
  [ $y -lt 4 ] && printf '\0%.0s' 1 2 3 4 5 6 7 8 || printf '\200%.0s' 1 2 3 4 5 6 7 8
  [ $y -lt 4 ] && printf '\377%.0s' 1 2 3 4 5 6 7 8 || printf '\100%.0s' 1 2 3 4 5 6 7 8
done >>in.pgm
convfilt apply identity in.pgm in.jpg --quality 100
with_orientation() {  # N: in.jpg with an EXIF segment after its first marker
  head -c 2 in.jpg
  printf '\377\341\000\042Exif\0\0MM\000\052\000\000\000\010\000\001\001\022\000\003\000\000\000\001\000'"\\$(printf %03o "$1")"'\000\000\000\000\000\000'
  tail -c +3 in.jpg
}
corners() {  # top left, top right, bottom left, bottom right
  local width height at
  { read -r _; read -r width height; read -r _; } <"$1"
  for at in 0 $((width - 1)) $((width * (height - 1))) $((width * height - 1)); do
    tail -c $((width * height - at)) "$1" | od -An -tu1 -N 1
  done | tr -d '\n'
  echo " ($width x $height)"
}
for n in 1 2 3 4 5 6 7 8; do
  with_orientation $n >turned.jpg
  convfilt apply identity turned.jpg out.pgm
  echo "$n:$(corners out.pgm)"
  convfilt apply identity turned.jpg out.jpg --quality 100
  convfilt apply identity out.jpg again.pgm
  [ "$(corners again.pgm | sed 's/.*(//')" = "$(corners out.pgm | sed 's/.*(//')" ] || fail "$n: turned twice"
  convfilt apply identity turned.jpg out.png
  grep -q eXIf out.png || fail "$n: the EXIF data are lost"
  convfilt apply identity out.png again.pgm; same out.pgm again.pgm
done
