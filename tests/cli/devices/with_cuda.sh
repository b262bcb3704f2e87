# A CUDA device: strategies run on it as asked, silently, and give the bytes of the CPU.
need_cuda
convfilt apply gaussian5 samples/camera.png expected.pgm --device=cpu --strip
for name in basic tiled-in tiled-out cached texture; do
  convfilt apply gaussian5 samples/camera.png out.pgm --strategy=$name --strip
  same expected.pgm out.pgm
  convfilt apply gaussian5 samples/camera.png out.pgm --strategy=$name --device=cuda:0 -v 2>said
  same expected.pgm out.pgm
  grep -q "^convfilt: strategy $name on cuda:0 (as asked)$" said || fail "$(cat said)"
  grep -Eq '^convfilt: upload [0-9.]+ ms, kernel [0-9.]+ ms, download [0-9.]+ ms$' said || fail "$(cat said)"
done
try blur samples/camera.png none.png --device=cuda:99
try blur samples/camera.png none.png --device=cuda --strategy=cpu
[ ! -e none.png ]
# Closed standard streams: nothing of ours, or of the driver's, gets into the picture.
convfilt blur samples/camera.png expected.pgm --device=cuda --strip
convfilt blur samples/camera.png out.pgm --device=cuda -v >&- 2>&- <&-
same expected.pgm out.pgm
