# A threshold and a halo limit, by hand. Beside a step of 200, a Gaussian of sigma 1 has 0.3005 of its weight beyond the step for the
# nearest pixel and 0.0585 for the next: differences of 60.1 and 11.7. Without a limit 20 becomes -40 and 8.3, 220 becomes 280 and
# 231.7; within 0 % all stay.
pgm step.pgm <<'P'
20 20 20 20 20 20 220 220 220 220 220 220
20 20 20 20 20 20 220 220 220 220 220 220
P
convfilt sharpen step.pgm out.pgm; show out.pgm
convfilt sharpen step.pgm out.pgm --halo-limit 0; show out.pgm
# 5 % of 200 are 10 steps.
convfilt sharpen step.pgm out.pgm --halo-limit 5; show out.pgm
# Differences of half a step stay under a threshold of 2; at the step of 100, (5.8 - 2) * 10 is added.
pgm noise.pgm <<'P'
100 101 100 101 100 101 200 201 200 201 200 201
100 101 100 101 100 101 200 201 200 201 200 201
P
convfilt sharpen noise.pgm out.pgm --amount 10; show out.pgm
convfilt sharpen noise.pgm out.pgm --amount 10 --threshold 2; show out.pgm
# A threshold of 0 is none.
convfilt sharpen samples/chelsea.png a.ppm --amount 10
convfilt sharpen samples/chelsea.png b.ppm --amount 10 --threshold 0
same a.ppm b.ppm
# The same bytes on any threads, and on the emulator.
convfilt sharpen samples/chelsea.png a.ppm --amount 3 --threshold 4 --halo-limit 10 --threads 1
for how in --threads=2 --border=replicate "--device=emulator -q"; do
  # shellcheck disable=SC2086  # words
  convfilt sharpen samples/chelsea.png b.ppm --amount 3 --threshold 4 --halo-limit 10 $how
  same a.ppm b.ppm
done
try sharpen step.pgm none.pgm --threshold 256
try sharpen step.pgm none.pgm --threshold -1
try sharpen step.pgm none.pgm --halo-limit -1
try sharpen step.pgm none.pgm --halo-limit half
try sharpen step.pgm none.pgm --threshold 3 --mode full
try sharpen step.pgm none.pgm --halo-limit 3 --mode full
try sharpen samples/ none/ --threshold 3 --codec gpu
[ ! -e none.pgm ]
