# What a decoder, an encoder or a stream is going to hold is known from the header, and asked for before it is taken: with
# any limit a picture is filtered within it, or refused in a line that says how much it takes and what is allowed.
need_peak
readonly kSlack=7   # MiB: what an allocator keeps, and the parts of a library that do not grow with the picture

# Writes a grey TIFF of 8 bits whose one piece, a tile or a strip, is the whole picture, as PackBits: 128 pixels a pair.
one_piece() {  # WIDTH HEIGHT tile|strip
  local bytes=$(($1 * $2 / 64))
  number() { printf "\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 >> 16 & 255)))\\x$(printf %02x $(($1 >> 24)))"; }
  entry() { number $(($1 | 4 << 16)); number 1; number "$2"; }
  printf 'II*\0\x08\0\0\0\x0a\0'
  entry 256 "$1"; entry 257 "$2"; entry 258 8; entry 259 32773; entry 262 1
  if [ "$3" = tile ]; then
    entry 277 1; entry 322 "$1"; entry 323 "$2"; entry 324 134; entry 325 $bytes
  else
    entry 273 134; entry 277 1; entry 278 "$2"; entry 279 $bytes; entry 284 1
  fi
  number 0
  head -c $bytes < <(yes $'\x81\x55' | tr -d '\n')
}

{ printf 'P6\n1400 1000\n255\n'; head -c 4200000 < <(yes 'any bytes will do as pixels'); } >large.ppm
{ printf 'P6\n700 500\n255\n'; head -c 1050000 /dev/urandom; } >noise.ppm
printf 'P6\n2 2\n255\n            ' >tiny.ppm
one_piece 16000 3008 tile >tile.tif
one_piece 16000 3008 strip >strip.tif
convfilt apply identity tiny.ppm tiny.tif -q
# A screen of 4000x3000 around a picture of one pixel.
printf 'GIF89a\xa0\x0f\xb8\x0b\x80\0\0\0\0\0\xff\xff\xff\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b' >screen.gif
printf 'GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b' >tiny.gif

limits=(4 12 32 96) turn=0
checked=0
refused=0
# Filters IN to OUT within LIMIT, and looks at its peak beyond BASE.
holds() {  # NAME BASE LIMIT IN OUT FORMAT
  local code=0 beyond
  peak_of peak "$CONVFILT" blur "$4" "$5" --format "$6" --max-memory "$3M" --device cpu --threads 2 2>said || code=$?
  beyond=$(($(cat peak) - $2))
  [ $beyond -le $(($3 + kSlack)) ] || fail "$1: exit code $code, $beyond MiB beyond a tiny picture's, and $3 are allowed"
  checked=$((checked + 1))
  [ $code != 0 ] || return 0
  refused=$((refused + 1))
  [ $code = 1 ] && grep -Eqx "convfilt: cannot filter .*: it takes (more than )?[0-9]+ MiB of memory, and --max-memory allows $3 MiB" said ||
    fail "$1: exit code $code: $(cat said)"
}
# From a file to a file, and from a pipe to a pipe.
check() {  # NAME INPUT TINY FORMAT
  local base limit
  peak_of base "$CONVFILT" blur "$3" "out.$4" -q --device cpu --threads 2
  base=$(cat base)
  # A short run has one limit after the other, and each picture as a stream at 12.
  for limit in "${limits[@]}"; do
    [ "${CONVFILT_TEST_SIZE:-}" = full ] || [ "$limit" = "${limits[(turn + turn / 4) % 4]}" ] || continue
    holds "$1" "$base" $limit "$2" "out.$4" "$4"
  done
  turn=$((turn + 1))
  holds "$1, as a stream" "$base" 12 - - "$4" < <(cat "$2") > >(cat >/dev/null)
}
{ printf 'P6\n4000 3000\n255\n'; head -c 36000000 < <(yes 'any bytes will do as pixels'); } >huge.ppm
if convfilt apply identity tiny.ppm tiny.bmp -q 2>said; then
  convfilt apply identity huge.ppm huge.bmp -q
  check 'huge from bmp' huge.bmp tiny.bmp ppm
  check 'huge to bmp' huge.ppm tiny.ppm bmp
fi
check tile tile.tif tiny.tif ppm
check strip strip.tif tiny.tif ppm
check screen screen.gif tiny.gif pam
for format in ppm pam pfm png jpg tif webp bmp hdr exr jp2 jxl heic avif; do
  convfilt apply identity tiny.ppm "tiny.$format" -q 2>said || continue
  for picture in large noise; do
    every 3 || continue
    check "$picture to $format" $picture.ppm tiny.ppm "$format"
    convfilt apply identity $picture.ppm "$picture.$format" -q
    check "$picture from $format" "$picture.$format" "tiny.$format" ppm
  done
done
least=20; [ "${CONVFILT_TEST_SIZE:-}" = full ] || least=15
[ $refused -ge $least ] || fail "only $refused of $checked were refused"
