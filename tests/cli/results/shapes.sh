# Grey stays grey, and the smallest, longest and highest pictures work, with every strategy.
convfilt blur samples/camera.png grey.png; shape grey.png
convfilt edge samples/camera.png grey.png; shape grey.png
pgm one.pgm <<<77
# Longer than a texture has columns, 131,072, and than a grid has rows of blocks, 65,535.
printf 'P5\n132000 1\n255\n' >wide.pgm; head -c 132000 samples/coffee.png >>wide.pgm
printf 'P5\n1 66000\n255\n' >high.pgm; head -c 66000 samples/coffee.png >>high.pgm
# A short run takes one strategy for each way to reach a sample; strategies/long_pictures has them all.
all() { if [ "${CONVFILT_TEST_SIZE:-}" = full ]; then cat; else grep -xE 'cpu|basic|tiled-in|texture|separable|winograd|in-parts'; fi; }
for name in $(strategies_for_any | all); do
  [ "$name" = winograd ] && side=3 || side=5
  convfilt apply box$side one.pgm "one-$name.pgm" --strategy "$name" -q
  convfilt apply gaussian$side wide.pgm "wide-$name.pgm" --strategy "$name" -q
  convfilt apply gaussian$side high.pgm "high-$name.pgm" --strategy "$name" -q
done
for name in $(strategies direct separable reordered | all); do
  same one-basic.pgm "one-$name.pgm"
  # Turned upright, the same samples, but for the border at the end; separable rounds between its passes, but one of
  # the two is trivial here.
  cmp <(tail -c 132000 "wide-$name.pgm" | head -c 65990) <(tail -c 66000 "high-$name.pgm" | head -c 65990) ||
    fail "$name: wide and high differ"
  [ "$name" = separable ] || same wide-basic.pgm "wide-$name.pgm"
done
show one-cpu.pgm
