# A picture is a mask: its luma, over their sum. The sum here is 16, and the mask is that of gaussian3.
pgm psf.pgm <<'P'
1 2 1
2 4 2
1 2 1
P
convfilt apply psf.pgm samples/camera.png out.pgm
convfilt apply gaussian3 samples/camera.png wanted.pgm
same out.pgm wanted.pgm
printf 'P2 3 3 65535\n1000 2000 1000  2000 4000 2000  1000 2000 1000\n' >deep.pgm
convfilt apply deep.pgm samples/camera.png out.pgm
same out.pgm wanted.pgm
convfilt mask check psf.pgm >facts; head -n 4 facts
try apply psf.pgm samples/camera.png out.pgm -v 2>said; grep 'normalised' said
# Weights apply as written, and --flip turns them: an impulse shows the mask turned, or as it is.
pgm corner.pgm <<'P'
0 0 0
0 0 10
0 30 0
P
pgm one.pgm <<'P'
0 0 0 0 0
0 0 0 0 0
0 0 200 0 0
0 0 0 0 0
0 0 0 0 0
P
convfilt apply corner.pgm one.pgm out.pgm; show out.pgm
convfilt apply corner.pgm one.pgm out.pgm --flip; show out.pgm
# Colours count by their luma: 299 red, 587 green, 114 blue of 1000.
printf 'P3 3 1 255\n100 0 0  0 100 0  0 0 100\n' >rgb.ppm
pgm line.pgm <<<"0 0 250 0 0"
convfilt apply rgb.ppm line.pgm out.pgm; show out.pgm
# What is no mask.
pgm black.pgm <<<"0 0 0"
try apply black.pgm samples/camera.png out.pgm
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcd' >alpha.pam
try apply alpha.pam samples/camera.png out.pgm
{ echo P2 1026 1 255; for _ in {1..1026}; do echo 1; done; } >wide.pgm
try apply wide.pgm samples/camera.png out.pgm
printf 'Pf 1 1 -1 \0\0\200\177' >infinite.pfm
try apply infinite.pfm samples/camera.png out.pgm
head -c 60 samples/camera.png >cut.png
try apply cut.png samples/camera.png out.pgm
try apply psf.pgm samples/camera.png psf.pgm
