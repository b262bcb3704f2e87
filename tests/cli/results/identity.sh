# The identity changes no byte: 8, 16 bits and float, grey, colour, alpha; from every strategy but the transforms; sharpening by 0 likewise.
printf 'P5\n3 2\n255\n\000\001\177\200\376\377' >u8.pgm
printf 'P5\n3 2\n65535\n\000\000\000\001\177\377\200\000\377\376\377\377' >u16.pgm
printf 'P6\n2 1\n255\n\001\002\003\375\376\377' >u8.ppm
printf 'Pf\n2 1\n-1\n\000\000\200\077\315\314\314\275' >f32.pfm  # 1 and -0.1
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\001\002\003\377\375\376\377\377' >u8.pam
convfilt apply identity samples/coffee.png photo.ppm
for name in $(strategies direct separable reordered); do
  [ "${name#separable}" != "$name" ] && how="blur --box 1" || how="apply identity"
  for in in u8.pam f32.pfm photo.ppm; do
    case "$name $in" in *tensor\ f32.pfm) continue ;; esac  # they take only 8 bits
    convfilt $how $in "out.${in#*.}" --strategy "$name" -q
    cmp $in "out.${in#*.}" || fail "$name, $in"
  done
done
for in in u8.pgm u16.pgm u8.ppm u8.pam f32.pfm photo.ppm; do
  convfilt sharpen --amount 0 $in "out.${in#*.}"
  same $in "out.${in#*.}"
done
# A photograph goes through PNG and TIFF unchanged.
for format in png tif; do
  convfilt apply identity photo.ppm out.$format
  convfilt apply identity out.$format back.ppm
  same photo.ppm back.ppm
done
