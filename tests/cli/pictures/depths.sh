# Depth and channels stay what they were, where the format can hold them; where not, a warning says what becomes of them.
printf 'P5\n3 1\n65535\n\000\001\177\377\377\376' >u16.pgm
printf 'P6\n2 1\n65535\n\000\001\177\377\377\376\000\002\200\000\101\102' >u16.ppm
printf 'Pf\n2 1\n-1\n\000\000\200\077\000\000\000\277' >f32.pfm   # 1 and -0.5
printf 'PF\n1 1\n-1\n\000\000\200\077\000\000\000\277\000\000\100\100' >f32rgb.pfm
for format in png tif pam; do
  convfilt apply identity u16.pgm u16.$format; echo "$format $(shape u16.$format)"
  convfilt apply identity u16.$format back.pgm; same u16.pgm back.pgm
  convfilt apply identity u16.ppm u16rgb.$format; echo "$format $(shape u16rgb.$format)"
  convfilt apply identity u16rgb.$format back.ppm; same u16.ppm back.ppm
done
# In a PNG's header the depth is byte 24.
od -An -tu1 -j 24 -N 1 u16.png
for in in f32 f32rgb; do
  convfilt apply identity $in.pfm $in.tif; echo "tif $(shape $in.tif)"
  convfilt apply identity $in.tif back.pfm; same $in.pfm back.pfm
done
# 8-bit formats take the upper half, and say so; -q does not.
try blur u16.pgm out.jpg
try apply identity u16.pgm out.bmp -q
shape out.bmp
try apply identity f32.pfm out.png
# Float has all values; in 16 bits what is below 0 is 0.
convfilt apply identity out.png back.pgm; show back.pgm
