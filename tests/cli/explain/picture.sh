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
convfilt explain tiled-in --mask 70x33 --picture parts.svg >/dev/null
grep -q 'tiled-in, mask 70x33 in 6 parts, here one of 23x16' parts.svg || fail "the title does not say of which mask a part is"
for name in $(strategies); do
  for way in "--mode full" "--mask 3x3 --size 5x3" "--mode valid"; do
    every 4 || continue
    if convfilt explain "$name" $way --picture drawn.svg >/dev/null 2>message; then
      grep -q "$name, mask" drawn.svg || fail "$name $way: not drawn"
    else
      grep -q "there are no blocks of $name to draw" message || fail "$name $way: $(cat message)"
    fi
  done
done
# A picture and JSON in one run are those of two.
convfilt explain tiled-in --mask 5x5 --tile 16 --picture again.svg --json >block.json
same tiles.svg again.svg
convfilt explain tiled-in --mask 5x5 --tile 16 --json | diff - block.json
# Any block may be drawn, by one of its outputs: of 13 x 8 the last has 8 x 8 outputs in the picture, under a border of ghosts.
for at in 199,119 192,112; do
  convfilt explain tiled-in --mask 5x5 --tile 16 --picture at.svg --at $at >/dev/null
  grep -q "B, at $at: 100 samples, 300 ghost cells" at.svg || fail "not the last block"
done
convfilt explain tiled-in --mask 5x5 --tile 16 --picture at.svg --at 191,111 >/dev/null
grep -q 'B, at 191,111: 400 samples' at.svg || fail "the last block has an output of its neighbour"
# Titles are bold in every viewer, and no line is an area narrower than a point, which librsvg would not draw.
grep -q 'font-weight="bold"' tiles.svg || fail "no title is bold"
! grep -q '":Bold"' tiles.svg || fail "a font has the name ':Bold'"
grep -o "points = '[^']*'" tiles.svg | tr -d "'" | awk '{
  left = top = 1e9; right = bottom = 0
  for (k = 3; k <= NF; ++k) { split($k, at, ","); x = at[1] + 0; y = at[2] + 0
    if (x < left) left = x; if (x > right) right = x; if (y < top) top = y; if (y > bottom) bottom = y }
  if (right - left < 1 || bottom - top < 1) { print; narrow = 1 } ++areas } END { exit narrow || areas < 100 }' ||
  fail "an area is narrower than a point"
# Threads: tiled-in and tiled-out at one tile have the same samples and uses, but other steps and threads.
convfilt explain tiled-out --mask 5x5 --tile 16 --picture out.svg >/dev/null
for words in 'C, loading: 1 step of 400 threads' 'D, computing: 256 threads, 144 idle' 'along a row: 1 2 3 4 5 5 … 5 5 4 3 2 1'; do
  grep -q "$words" tiles.svg || fail "tiled-in: no '$words'"
done
for words in 'C, loading: 4 steps of 256 threads' 'D, computing: 256 threads<' 'along a row: 1 2 3 4 5 5 … 5 5 4 3 2 1'; do
  grep -q "$words" out.svg || fail "tiled-out: no '$words'"
done
# An anchor in a corner, and a mask of two parts along each axis.
printf 'anchor: 0 3\n1 1 1\n1 1 1\n1 1 1\n1 1 2\n' >corner.txt
convfilt explain tiled-in --mask corner.txt --tile 8 --picture corner.svg >/dev/null
grep -q 'A, corner' corner.svg || fail "no picture of a mask with its anchor in a corner"
convfilt explain in-parts --mask 8x8 --part 4 --block 8 --accumulate divisions --picture parts.svg >/dev/null
for words in 'division 0,0 of 3 x 3' 'which begin 12 x 12 apart, so none meet' 'each division has a private buffer' 'mask of 8 x 8 in 2 x 2 parts'; do
  grep -q "$words" parts.svg || fail "in-parts: no '$words'"
done
# The default picture grows where it has no whole block in its middle, and one of a given size stays.
convfilt explain unrolled --picture unrolled.svg >/dev/null
grep -q 'picture 400 x 240' unrolled.svg && grep -q 'B, middle' unrolled.svg || fail "unrolled: no whole block in the middle"
convfilt explain unrolled --size 200x120 --picture unrolled.svg >/dev/null
grep -q 'B, edge' unrolled.svg || fail "unrolled: a cut block is called the middle"
# A block of threads that loads for a transform has no more threads at work than samples.
convfilt explain in-parts --mask 8x8 --part 4 --block 8 --accumulate divisions --picture parts.svg | grep '64 threads, 192 idle' >/dev/null ||
  fail "in-parts: not 64 threads load"
grep -q 'of a block of 256 threads 64 load, 88 write' parts.svg || fail "in-parts: other threads in the drawing"
