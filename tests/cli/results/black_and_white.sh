# PNG and TIFF hold black and white edges in one bit a sample. A PGM has the samples.
packed() {  # FILE: the rows' bytes, the first sample in the highest bit
  local row value bits
  show "$1" | tail -n +2 | while read -r row; do
    bits=
    for value in $row; do bits+=$((value / 255)); done
    while [ $((${#bits} % 8)) != 0 ]; do bits+=0; done
    for ((; ${#bits} > 0;)); do printf ' %02x' $((2#${bits:0:8})); bits=${bits:8}; done
  done
}
bytes() { od -An -v -tx1 -w9999 "$@"; }
edge() { convfilt edge in.pgm "$@" --sigma 0 --gain 4 --threshold 150; }
for width in 1 7 8 9 17; do
  for row in '0 40 0 0 90 90 90 0 0 200 0 0 0 50 50 0 90' '20 0 90 0 0 0 10 40 90 0 0 0 0 0 70 90 0'; do
    cut -d ' ' -f "1-$width" <<<"$row"
  done | pgm in.pgm
  edge out.pgm
  edge out.tif --compression 0
  edge out.png --compression 0
  expected=$(packed out.pgm) count=$(((width + 7) / 8))
  [ "$expected" = "$(bytes -j 8 -N $((2 * count)) out.tif)" ] || fail "TIFF of $width columns"
  # Behind signature, IHDR, the head of IDAT, that of zlib and that of a stored block; before each row is its filter.
  first=$((8 + 25 + 8 + 2 + 5 + 1))
  [ "$expected" = "$(bytes -j $first -N $count out.png)$(bytes -j $((first + count + 1)) -N $count out.png)" ] ||
    fail "PNG of $width columns"
  echo "$width:$expected"
done

depth_of() { od -An -tu1 -j24 -N1 "$1" | tr -d ' '; }  # of a PNG
for how in '--threshold 40' '--method canny' '--method log --thin --threshold 30'; do
  convfilt edge samples/camera.png edges.pgm $how
  for extension in png tif; do
    convfilt edge samples/camera.png first.$extension $how
    for more in '--threads 1' '--threads 3' '--max-memory 64M --threads 2'; do
      convfilt edge samples/camera.png out.$extension $how $more; same out.$extension first.$extension
    done
    for more in '' '--compression 6' '--compression 0'; do
      convfilt edge samples/camera.png out.$extension $how $more
      convfilt apply identity out.$extension back.pgm; same back.pgm edges.pgm
      # libpng and libtiff unpack the bits by themselves.
      convfilt apply identity out.$extension back.pgm -q --loader opencv; same back.pgm edges.pgm
    done
  done
  [ "$(depth_of first.png)" = 1 ] || fail "PNG: $how"
  [ "$(stat -c %s out.tif)" -lt $((512 * 64 + 600)) ] || fail "TIFF: $how"
done
# Pictures of 16 bits and of floats give the same samples, without a warning.
for file in plain.pgm,u8 wide.pgm,u16 floats.pfm,f32; do
  convfilt apply identity samples/camera.png ${file%,*} --depth ${file#*,}
  convfilt edge ${file%,*} out.png --threshold 40
  [ $file = plain.pgm,u8 ] && cp out.png first.png || same out.png first.png
done
convfilt edge samples/camera.png first.png --threshold 40
cp samples/camera.png out.png
convfilt edge out.png out.png --threshold 40 --in-place; same out.png first.png
# Samples may have other levels, or are asked to be deeper.
for how in '--region 0,0,100,100' '--depth u8' '--output abs' --linear '--direction angle' '--depth u16'; do
  convfilt edge samples/camera.png out.png --threshold 40 $how; echo "$how: $(depth_of out.png)"
done
convfilt edge samples/chelsea.png out.png --threshold 40 --color; echo "--color: $(depth_of out.png)"
