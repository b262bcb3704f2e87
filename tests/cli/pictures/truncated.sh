# A picture cut anywhere is refused, whatever its format; with --on-damage=warn what is left of it is taken, with a
# warning. No offset makes the program crash or write rubbish in silence.
convfilt apply identity samples/rocket.jpg in.ppm -q
printf 'P6\n64 48\n255\n' >small.ppm; tail -c 9216 in.ppm >>small.ppm
for format in jpg png tif webp bmp ppm pam pfm heic avif jxl jp2; do
  convfilt apply identity small.ppm whole.$format
  size=$(stat -c %s whole.$format)
  for at in 4 54 $((size / 2)) $((size - 1)); do
    head -c $at whole.$format >cut.$format
    code=0; convfilt apply identity cut.$format out.ppm 2>said || code=$?
    [ $code = 1 ] || fail "$format cut to $at of $size bytes: exit code $code"
    grep -q "^convfilt: cannot read 'cut.$format': " said && [ "$(wc -l <said)" = 1 ] || fail "$format, $at: $(cat said)"
    [ ! -e out.ppm ] || fail "$format, $at: it wrote a picture"
    [ $at = $((size / 2)) ] || continue
    code=0; convfilt apply identity cut.$format out.ppm --on-damage=warn 2>said || code=$?
    case $code in
      0) grep -q "^convfilt: warning: 'cut.$format': .*; read as far as possible$" said || fail "$format, $at: $(cat said)"
        [ "$(head -n 2 out.ppm | tail -n 1)" = "64 48" ] || fail "$format, $at: the picture has another size" ;;
      1) grep -q "^convfilt: cannot read 'cut.$format': nothing of this" said || fail "$format, $at: $(cat said)" ;;
      *) fail "$format, $at, --on-damage=warn: exit code $code" ;;
    esac
    ! grep -v '^convfilt: ' said || fail "$format, $at: $(cat said)"
    rm -f out.ppm
  done
done
# Where not one row is left, there is nothing to take, and a black picture would be a lie.
head -c 60 whole.png >cut.png
code=0; convfilt apply identity cut.png out.ppm --on-damage=warn 2>said || code=$?
[ $code = 1 ] && [ ! -e out.ppm ] || fail "a PNG without a row: exit code $code"
grep -q "^convfilt: cannot read 'cut.png': nothing of this PNG can be read: " said || fail "$(cat said)"
# A black picture without its end is black, and is taken.
printf 'P5\n64 48\n255\n' >black.pgm; head -c 3072 /dev/zero >>black.pgm
convfilt apply identity black.pgm black.png
head -c $(($(stat -c %s black.png) - 14)) black.png >cut.png
convfilt apply identity cut.png out.pgm --on-damage=warn 2>said
cmp black.pgm out.pgm
# A file of boxes, which has metadata, is cut elsewhere than a bare JPEG XL.
convfilt apply identity samples/rocket.jpg boxes.jxl
head -c $(($(stat -c %s boxes.jxl) / 2)) boxes.jxl >cut.jxl
code=0; convfilt apply identity cut.jxl out.ppm 2>said || code=$?
[ $code = 1 ] && [ "$(wc -l <said)" = 1 ] || fail "$(cat said)"
