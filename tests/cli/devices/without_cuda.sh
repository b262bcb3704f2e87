# No CUDA device: asking for one fails and says what is missing; a CUDA strategy runs in the emulator, with a notice.
need_no_cuda
try blur samples/camera.png out.png --device=cuda
try blur samples/camera.png out.png --device cuda:7
try blur samples/camera.png out.png --device=cuda --strategy=basic
only .
# With a folder this ends the run before the first picture.
mkdir in
cp samples/camera.png in
try blur in out --device=cuda
rm -r in
only .
pgm in.pgm <<<"1 2 3"
for name in basic tiled-in tiled-out cached texture; do
  try apply box3 in.pgm out.pgm --strategy=$name
  rm out.pgm
  try apply box3 in.pgm out.pgm --strategy=$name -q
done
# An emulator that was asked for is no news; -v counts what a GPU would read.
try apply box3 in.pgm out.pgm --device=emulator --strategy=basic
try apply box3 in.pgm out.pgm --device=emulator --strategy=basic -v
