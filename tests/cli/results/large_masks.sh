# Under masks so large that auto transforms, -v says so, and the picture is within a step of the exact one. The mask has
# 31 x 31 weights and more than three terms.
awk 'BEGIN { for (j = 0; j < 31; ++j) { for (i = 0; i < 31; ++i) printf "%d ", (i * i * 7 + j * 13 + i * j * 5) % 101; print "" } print "scale: 48050" }' >mask.txt
{ printf 'P5\n300 280\n65535\n'; head -c 168000 samples/coffee.png; } >in.pgm
convfilt apply mask.txt in.pgm out.pgm --device cpu -v 2>said
grep -q 'strategy fft on cpu (family transform by so large a mask, in which bytes may differ by a rounding' said ||
  fail "it says: $(cat said)"
convfilt apply mask.txt in.pgm exact.pgm --strategy cpu -q
paste <(tail -c 168000 out.pgm | od -An -v -w2 --endian=big -tu2) <(tail -c 168000 exact.pgm | od -An -v -w2 --endian=big -tu2) |
  awk '{ d = $1 - $2; if (d > 1 || d < -1) exit 1 }' || fail "they differ by more than a step"
# Tiny pictures, and 8 bits, stay as exact as ever.
{ printf 'P5\n200 280\n65535\n'; head -c 112000 samples/coffee.png; } >tiny.pgm
{ printf 'P5\n300 280\n255\n'; head -c 84000 samples/coffee.png; } >bytes.pgm
for one in tiny bytes; do
  convfilt apply mask.txt $one.pgm out.pgm --device cpu -v 2>said
  grep -q 'strategy cpu on cpu (family direct by the mask' said || fail "it says: $(cat said)"
done
# A long and smooth mask goes by coarse grids.
convfilt blur in.pgm out.pgm --sigma 40 --device cpu -v 2>said
grep -q 'strategy coarse on cpu (family transform by so large a mask' said || fail "it says: $(cat said)"
