# --json has a line for each file, whatever becomes of it, and for what --dry-run would do.
mkdir photos
for name in a c d e f; do cp samples/camera.png photos/$name.png; done
echo no picture >photos/b.png
mkfifo pipe.png
lines() { sed 's/"width.*/.../' "$1"; }
try blur photos pipe.png -o out --json -q >said
lines said | sort
echo "nothing is begun after a failure:"
try blur photos pipe.png -o fast --fail-fast --threads 1 --json -q >said
lines said | sort
echo "a plan:"
cp samples/camera.png photos/b.png
rm out/c.png
try blur photos pipe.png -o out --resume --dry-run --json -q
try blur photos -o out --if-exists fail --dry-run --json -q
# A signal leaves no file without its line either.
mkdir large
{ printf 'P5\n6000 4000\n255\n'; head -c 24000000 /dev/zero; } >large/p00.pgm
for i in {01..15}; do ln large/p00.pgm large/p$i.pgm; done
"$CONVFILT" blur large stopped --sigma 3 --threads 2 --json >said 2>messages &
while [ ! -e stopped/.convfilt-journal ]; do sleep 0.01; done
kill -TERM $! 2>kill.said || : # on a busy machine it may have ended
wait $! || true
sed 's/.*"input":"\([^"]*\)".*/\1/' said | sort >named
for picture in large/*; do echo "$picture"; done >expected
same expected named
! grep -q 'stopped by a signal' messages || grep -q '"status":"not begun","reason":"a signal stopped the run"' said || fail "$(cat said)"
