# Too few, too many, misspelt or clashing arguments.
try blur
try blur in.png
try apply
try apply gaussian5 samples/camera.png
try blur samples/camera.png out.png more.png
try list strategies filters
try list strategis
try list everything
try blur samples/camera.png out.png --sgima 2
try blur samples/camera.png out.png --Sigma 2
try blur samples/camera.png out.png --xyzzy
try blur samples/camera.png out.png -V
try blur samples/camera.png out.png $'--a\nb'
try edge samples/camera.png out.png --amount 1
try list --verbose
try blur samples/camera.png out.png -q -v
try blur samples/camera.png out.png --quiet --verbose
try blur samples/camera.png out.png --sigma
try blur samples/camera.png out.png --strategy=
try blur samples/camera.png out.png --sigma 1 --sigma 2
try blur samples/camera.png out.png --flip=maybe
# A name that is missing because an option is misspelt, looks like an option, or is empty.
try blur in.png --sgima 3
try blur -x.png out.png
try blur samples/camera.png -v.png
try blur -- -x.png out.png
try blur '' out.png
try blur samples/camera.png ''
try apply '' samples/camera.png out.png
only .
