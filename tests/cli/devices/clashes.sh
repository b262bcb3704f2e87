# A strategy and a device that do not go together are refused, and so is a mask that a strategy cannot do.
try blur samples/camera.png out.png --strategy cpu --device emulator
try blur samples/camera.png out.png --strategy basic --device cpu
try blur samples/camera.png out.png --strategy tiled-in --device cpu
try apply motion9 samples/camera.png out.png --strategy separable
echo 0 0 0 >zeros.txt
try apply ./zeros.txt samples/camera.png out.png --normalize
only . zeros.txt
