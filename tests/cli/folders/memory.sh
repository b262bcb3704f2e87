# --max-memory holds for one picture and for a folder, and says what a picture takes.
mkdir photos
cp samples/camera.png photos/a.png
{ printf 'P5\n8000 4000\n255\n'; head -c 32000000 /dev/zero; } >photos/large.pgm
cp samples/camera.png photos/z.png
try blur photos/large.pgm large.pgm --strategy fft --max-memory 50M
[ ! -e large.pgm ] || fail "it was written"
try blur photos out --strategy fft --max-memory 50M
try blur photos/large.pgm large.pgm --border wrap --max-memory 30M
try blur photos/large.pgm large.pgm --border wrap --max-memory 50M
rm -f large.pgm
only out .convfilt-journal a.png z.png
convfilt blur photos out --max-memory 50M -q
