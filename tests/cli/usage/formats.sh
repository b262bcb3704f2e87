# What OUT's name says, or does not say.
try blur samples/camera.png out.pgn
try blur samples/camera.png out.qqqqqq
try blur samples/camera.png out
try blur samples/camera.png folder.png/out
try blur samples/camera.png .png
try blur samples/camera.png ''
try blur samples/camera.png -
try blur samples/camera.png out.png --format jpge
try blur samples/coffee.png out.pgm
try blur samples/camera.png $'out.\n'
only .
