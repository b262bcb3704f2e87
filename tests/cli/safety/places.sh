# Places that cannot be written are refused, before any work is done.
try blur samples/camera.png missing/out.png
try blur samples/camera.png samples/camera.png/out.png
try blur samples/camera.png /dev/full --format png
try blur samples/camera.png $'missing\n/out.png'
ln -s loop.png loop.png
try blur samples/camera.png loop.png
# The output is looked at before the input is read.
try blur missing.png missing/out.png
try blur samples/camera.png /dev/null --format png
[ -c /dev/null ] || fail "/dev/null is no longer a device"
only . loop.png
