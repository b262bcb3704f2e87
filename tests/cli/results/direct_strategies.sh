# The direct strategies give the same file of a photograph.
for s in $(strategies direct); do
  convfilt apply filters/gaussian5.txt samples/coffee.png $s.png --strategy=$s -q
  same basic.png $s.png
done
# And separable gives the same on the CPU as from the CUDA source.
convfilt blur --sigma 40 samples/camera.png cpu.png --device=cpu
convfilt blur --sigma 40 samples/camera.png emulator.png --device=emulator
same cpu.png emulator.png
