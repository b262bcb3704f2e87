# Nothing is measured where the profile could not be written, or the device makes no sense.
export XDG_CACHE_HOME=$PWD/cache
try tune --output missing/folder/my.json
try tune --output samples
try tune --device emulator
try tune --device cudo
try tune --quickly
# Help names the places that profiles are read from.
for place in CONVFILT_PROFILES XDG_CACHE_HOME/convfilt/profiles '~/.cache/convfilt/profiles'; do
  convfilt tune --help | grep -F "$place" >/dev/null || fail "tune --help does not name $place"
done
CONVFILT_PROFILES=$PWD/none try apply box3 samples/camera.png out.png -v
CONVFILT_PROFILES=$PWD/none try tune --device cpu --quick
[ ! -e cache ] || fail "it made $(ls -R cache)"
XDG_CACHE_HOME='' HOME='' try tune --device cpu --quick
: >file
XDG_CACHE_HOME=$PWD/file try tune --device cpu --quick
only . file
# What is no profile is named and left alone: a pipe would never end, nor would /dev/zero.
mkdir odd
mkfifo odd/pipe.json
ln -s /dev/zero odd/zero.json
truncate -s 17M odd/large.json
CONVFILT_PROFILES=$PWD/odd try apply box3 samples/camera.png out.png
