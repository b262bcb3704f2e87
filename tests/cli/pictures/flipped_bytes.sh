# Photographs with one byte changed, at places that do not depend on chance: refused, or read whole, never a crash.
cp samples/rocket.jpg damaged.jpg
size=$(stat -c %s damaged.jpg)
refused=0
for i in $(seq 1 16); do
  at=$((i * 2654435761 % size))
  cp samples/rocket.jpg damaged.jpg
  # The complement of the byte that was there.
  printf "\\$(printf %o $((255 - $(od -An -tu1 -j $at -N 1 damaged.jpg))))" | patch damaged.jpg $at
  differ samples/rocket.jpg damaged.jpg
  code=0; convfilt apply identity damaged.jpg out.png 2>said || code=$?
  case $code in
    0) [ ! -s said ] && rm out.png || fail "byte $at: $(cat said)" ;;
    1) [ "$(wc -l <said)" = 1 ] && [ ! -e out.png ] || fail "byte $at: $(cat said)"
      refused=$((refused + 1)) ;;
    *) fail "byte $at: exit code $code" ;;
  esac
done
# A changed coefficient that is still a legal one cannot be found; many are not legal.
[ $refused -gt 0 ] || fail "no damage was found"
# PNG has checksums: each change is found.
for i in $(seq 1 8); do
  cp samples/camera.png damaged.png
  at=$((100 + i * 2654435761 % 130000))
  printf "\\$(printf %o $((255 - $(od -An -tu1 -j $at -N 1 damaged.png))))" | patch damaged.png $at
  code=0; convfilt apply identity damaged.png out.ppm 2>said || code=$?
  [ $code = 1 ] && [ ! -e out.ppm ] || fail "PNG, byte $at: exit code $code"
done
