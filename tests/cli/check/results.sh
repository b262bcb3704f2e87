# Another program's results: found, off, of another mask, of another picture. The mask has the weights 1 2 over 4 on a row, the
# anchor on the 2, so that sample x becomes (1 * left + 2 * right) / 4: (1 * 40 + 2 * 80) / 4 = 50 behind a 40 and an 80.
echo '1 2
scale: 4' >m.txt
pgm in.pgm <<'EOF'
40 80 12 200
16 4 100 60
0 0 40 8
EOF
pgm replicate.pgm <<'EOF'
30 50 26 103
12 6 51 55
0 0 20 14
EOF
convfilt check in.pgm replicate.pgm --mask m.txt
echo
# One sample is 3 higher.
pgm off.pgm <<'EOF'
30 50 26 103
12 6 54 55
0 0 20 14
EOF
try check in.pgm off.pgm --mask m.txt --difference where.pgm --json=off.json
show where.pgm
cat off.json
convfilt check in.pgm off.pgm --mask m.txt --tolerance 3 --json | head -n 3
try check in.pgm off.pgm --mask m.txt --tolerance 2.9
# Flipped, and the border is 255: (2 * left + 1 * right) / 4, as convfilt does it.
convfilt apply m.txt in.pgm flipped.pgm --flip --border constant --border-value 9
convfilt check in.pgm flipped.pgm --mask m.txt --border-value 9 | head -n 1
# Results of other modes have other sizes.
for mode in valid full; do
  convfilt apply m.txt in.pgm $mode.pgm --mode $mode
  convfilt check in.pgm $mode.pgm --mask m.txt | head -n 1
done
# A photograph in colours, as a JPEG that is not the convolution any more.
convfilt apply sharpen3 samples/rocket.jpg sharp.png --border reflect101 --output abs
convfilt check samples/rocket.jpg sharp.png --mask sharpen3 | head -n 1
try check samples/rocket.jpg samples/rocket.jpg --mask emboss3
# Floats may be off by roundings.
convfilt apply gaussian5 samples/coffee.png soft.pfm --depth f32
convfilt apply identity samples/coffee.png in.pfm --depth f32
convfilt check in.pfm soft.pfm --mask gaussian5 | head -n 1
# Alpha is left out.
printf 'P7\nWIDTH 3\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabc\377abc\377abc\1' >clear.pam
printf 'P6 3 1 255\nabcabcabc' >opaque.ppm
try check clear.pam opaque.ppm --mask identity | head -n 1
only . in.pgm replicate.pgm off.pgm where.pgm off.json flipped.pgm valid.pgm full.pgm sharp.png soft.pfm in.pfm clear.pam opaque.ppm m.txt
