# One bad file never stops the rest; --fail-fast does; --resume tries the failed ones again.
mkdir photos
for name in a b c d; do cp samples/camera.png photos/$name.png; done
echo no picture >photos/b.png
try blur photos out --threads 1
only out .convfilt-journal a.png c.png d.png
cp samples/camera.png photos/b.png
try blur photos out --resume -v 2>said
grep -c 'skipped, done before' said
only out .convfilt-journal a.png b.png c.png d.png
same out/a.png out/b.png
# A pipe in a result's place is not waited for.
mkdir there; mkfifo there/a.png
try blur photos there --threads 1
only there .convfilt-journal a.png b.png c.png d.png
echo no picture >photos/b.png
try blur photos fast --threads 1 --fail-fast
only fast .convfilt-journal a.png
# A folder that cannot be read is said, and the rest is done.
mkdir -m 0 photos/closed
if [ "$(id -u)" != 0 ]; then
  rm photos/b.png
  convfilt blur photos closed -r 2>said && fail "it should fail"
  grep -q 'cannot read the folder' said || fail "$(cat said)"
fi
