# The textbook's example: an output tile of 16x16 under a 5x5 mask needs 20x20 samples, 400 loads for 256 outputs, so
# each sample is used 256 * 25 / 400 = 16 times. 400 threads take 13 warps, 416 places, of which sm_90 has 2,048 for 4
# blocks.
convfilt explain tiled-in --mask 5x5 --tile 16
# A filter's name does as well, and gives the same numbers.
convfilt explain tiled-in --mask gaussian5 --tile 16 | sed 's/gaussian5/gaussian/' | diff - <(convfilt explain tiled-in --tile 16)
# Which threads idle, in square tiles and others; a tile's cells lie close together, so that no two share a bank.
for way in "--idle last" "--idle rim" "--tile 16x8 --idle rim --mask 4x3" "--idle rim --mask 5x1" "--tile 32x8"; do
  # shellcheck disable=SC2086  # words
  convfilt explain tiled-in $way | grep -E '^tiled-in|^  (settings|block|computing|note|bank conflicts) '
done
# Where cells share banks, the reason stands beside the number.
convfilt explain tiled-out --tile 8 | grep '^  bank conflicts'
convfilt explain tiled-out --tile 32 | grep '^  bank conflicts'
# Tiles of other shapes give the same bytes, whichever threads idle.
convfilt apply gaussian5 samples/camera.png cpu.pgm --strategy cpu --device cpu
for way in "--tile 40x6" "--tile 40x6 --idle rim" "--tile 1x200" "--tile 100x5 --idle rim"; do
  # shellcheck disable=SC2086  # words
  convfilt apply gaussian5 samples/camera.png tiles.pgm --strategy tiled-in --device emulator $way
  same cpu.pgm tiles.pgm
done
