# What is refused before any work, with nothing written.
mkdir -p photos/sub elsewhere
cp samples/camera.png photos/a.png
cp samples/camera.png photos/sub/a.png
cp samples/camera.png elsewhere/c.png
try blur photos/a.png photos/sub/a.png photos
try blur photos/a.png photos/sub/a.png -o out
try blur photos/ photos
try blur photos/a.png -o photos/
try blur photos - -o out
try blur photos/a.png elsewhere/c.png -o -
try blur photos out --name blur.png
try blur photos out --name .convfilt-{stem}
mkdir .convfilt-journal.1-of-2
cp samples/camera.png .convfilt-journal.1-of-2/a.png
echo .convfilt-journal.1-of-2/a.png >list
try blur --files-from list -o out
try blur photos out --if-exists perhaps
try blur photos out --shard 3/2
try blur photos out --max-memory 0
try blur photos out --max-memory 1X
try blur photos out --null
try blur photos out --files-from nowhere
try blur elsewhere/ empty/ --glob '*.tif'
try blur -o out
try merge photos
[ ! -e out ] && [ ! -e empty ] || fail "something was made"
only photos a.png sub
# Links do not lead results out of OUT.
mkdir out
ln -s ../elsewhere out/sub
echo old >elsewhere/d.png
ln -s ../elsewhere/d.png out/c.png
try blur photos elsewhere/c.png -r -o out --threads 1
only elsewhere c.png d.png
[ "$(cat elsewhere/d.png)" = old ] || fail "it was written to"
[ -L out/c.png ] || fail "the link is gone"
