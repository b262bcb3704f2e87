# What check says of masks, whose facts are known by hand.
facts() {  # MASK OPTION...: without the choices, which are the machine's
  convfilt mask check "$@" >said
  sed '/^auto/,$d; s/ *$//' said
}
facts gaussian5
facts sobel_x
facts box3
facts laplacian3
# Rank 3 in 3x3: determinant not 0. A column of the product of (1 2 3) and (3 -1 1/2) is rank 1, not whole.
printf 'offset: 10\nanchor: 0 2\n1 2 3\n0 1 4\n5 6 0\n' >full.txt
facts full.txt | sed 1d
printf '3 -1 0.5\n6 -2 1\n9 -3 1.5\n' >rank1.txt
facts ./rank1.txt | sed 1d
# Decimals are shown as they are in the file.
printf '0.1 -0.123456789 0.2\n' >decimals.txt
facts decimals.txt | grep -E '^  (weights|row) '
convfilt mask show decimals.txt | sed -n '1,/^$/p;/0.1/p' | head -n 3
# Weights that no integers hold are rounded in 8 bits, and in floats by less than 2^-24 each.
printf '0.123456789012 0.2 0.3\n' >real.txt
facts real.txt | grep -E '^  (weights|u8|u16, f32) '
printf '0 0\n0 0\n' >zero.txt
facts zero.txt | grep -E '^  (sum|rank) '
# Too large for 8-bit sums: that is a fact about the mask, and no error.
printf '1e9 1 0.3\n' >large.txt
facts large.txt | grep -cE '^  u8 .*too large'
# A mask of rank above 3.
for y in {1..9}; do for x in {1..9}; do echo -n "$((x * x * y % 7 + x * y * y % 5)) "; done; echo; done >nine.txt
facts nine.txt | grep '^  rank '
for y in {1..65}; do echo {1..65}; done >wide.txt
# Rounded to eight decimals the Gaussian has no small rank, but it is near enough to one for 8 bits, which take two passes.
# Their error is shown, and it is not that of sums tap by tap.
for y in {-8..8}; do awk -v y="$y" 'BEGIN { for (x = -8; x <= 8; ++x) printf "%.8f ", exp(-(x * x + y * y) / 32) / 100.5; print "" }'; done >near.txt
facts near.txt --device cpu | grep -E '^  (rank|column|row|u8|u16|u16, f32|f32) '
convfilt mask check near.txt --device cpu | sed -n '/^auto/,$p' | grep -o '^  u8  *[a-z]* on cpu (family [a-z]*'
# Where the family transforms, it says so.
awk 'BEGIN { for (y = 1; y <= 65; ++y) { for (x = 1; x <= 65; ++x) printf "%d ", (x * x * y) % 7 + (x * y * y) % 5; print "" } }' >many.txt
facts many.txt --device cpu --size 2048x2048 | grep -E '^  (u8|u16|f32)[^(]* '
# A weight that no float holds is lost beside one that is 1e300 times as large.
printf '1e-300 1\n' >tiny.txt
facts tiny.txt | grep -E '^  (u8|u16, f32) '
# What auto takes, at every depth or one, for the picture that is said; only there a device counts.
convfilt mask check gaussian5 --device cpu | sed -n '/^auto/,$p'
convfilt mask check gaussian5 --device cpu --depth f32 --size 64x48 --channels 1 | sed -n '/^auto/,$p'
convfilt mask check gaussian5 --depth u8 | grep -c '^  u16'  || true
convfilt mask check wide.txt --device cpu --size 2048x2048 --depth u16 | sed -n '/^auto/,$p'
# The file is named by a path, too, and the check of what apply would take agrees with it.
convfilt mask check filters/gaussian5.txt --device cpu --size 512x512 --channels 1 --depth u8 | sed -n 's/^  u8  *\([a-z]* on [a-z]*\) .*/\1/p'
convfilt apply gaussian5 samples/camera.png out.png --device cpu -v 2>&1 | sed -n 's/.*strategy \([a-z]* on [a-z]*\) .*/\1/p'
