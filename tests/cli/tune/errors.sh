# Nothing is measured where the profile could not be written, or the device makes no sense.
export XDG_CACHE_HOME=$PWD/cache
try tune --output missing/folder/my.json
try tune --output samples
try tune --device emulator
try tune --device cudo
try tune --quickly
CONVFILT_PROFILES=$PWD/none try apply box3 samples/camera.png out.png -v
CONVFILT_PROFILES=$PWD/none try tune --device cpu --quick
[ ! -e cache ] || fail "it made $(ls -R cache)"
XDG_CACHE_HOME='' HOME='' try tune --device cpu --quick
: >file
XDG_CACHE_HOME=$PWD/file try tune --device cpu --quick
only . file
