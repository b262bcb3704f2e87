# The direct strategies give the same file of a photograph.
for s in $(strategies direct); do
  convfilt apply filters/gaussian5.txt samples/coffee.png $s.png --strategy=$s -q
  same basic.png $s.png
done
# And separable gives the same on the CPU as from the CUDA source, whether auto takes it or not.
for how in '--sigma 12' '--sigma 40 --strategy=separable'; do
  # shellcheck disable=SC2086  # options
  for device in cpu emulator; do convfilt blur $how samples/camera.png $device.png --device=$device; done
  same cpu.png emulator.png
done
