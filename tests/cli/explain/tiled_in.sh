# The textbook's example: an output tile of 16x16 under a 5x5 mask needs 20x20 samples, 400 loads for 256 outputs, so
# each sample is used 256 * 25 / 400 = 16 times. 400 threads take 13 warps, 416 places, of which sm_90 has 2,048 for 4
# blocks.
convfilt explain tiled-in --mask 5x5 --tile 16
# A filter's name does as well, and gives the same numbers.
convfilt explain tiled-in --mask gaussian5 --tile 16 | sed 's/gaussian5/gaussian/' | diff - <(convfilt explain tiled-in --tile 16)
