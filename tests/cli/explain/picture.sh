# The tiles as a drawing: the numbers stand in it, for every strategy that has blocks.
need_tool gnuplot
convfilt explain tiled-in --mask 5x5 --tile 16 --picture tiles.svg | grep '400 / 256' >/dev/null
grep -q 'tiled-in, mask 5x5: 256 outputs from 400 loads, reuse 256 · 25 / 400 = 16' tiles.svg || fail "no title"
grep -q 'A, corner: 324 samples, 76 ghost cells' tiles.svg || fail "no corner block"
grep -q 'picture 200 x 120, 13 x 8 blocks' tiles.svg || fail "no picture"
convfilt explain tiled-in --mask 5x5 --tile 16 --picture tiles.png >/dev/null
[ "$(head -c 4 tiles.png | tail -c 3)" = PNG ] || fail "no PNG"
# Twice the same bytes: nothing in it depends on the time or the machine.
convfilt explain tiled-in --mask 5x5 --tile 16 --picture again.svg >/dev/null
same tiles.svg again.svg
for name in $(strategies); do
  for way in "--mode full" "--mask 3x3 --size 5x3"; do
    if convfilt explain "$name" $way --picture drawn.svg >/dev/null 2>message; then
      grep -q "$name, mask" drawn.svg || fail "$name $way: not drawn"
    else
      grep -q "there are no blocks of $name to draw" message || fail "$name $way: $(cat message)"
    fi
  done
done
