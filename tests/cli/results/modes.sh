# --mode: same is the picture's size, valid its inside, full all that the mask touches; the inside is the same bytes.
for mode in same valid full; do convfilt apply gaussian5 samples/camera.png $mode.png --mode $mode; shape $mode.png; done
convfilt blur samples/rocket.jpg edge.png --box 31 --mode=valid; shape edge.png
convfilt edge samples/astronaut.png full.png --mode=full --color --sigma 0; shape full.png
# Each strategy gives each mode.
printf 'P5\n6 4\n255\n' >in.pgm; head -c 24 samples/coffee.png >>in.pgm
for mode in same valid full; do
  convfilt apply box3 in.pgm want.pgm --mode $mode
  for name in $(strategies_for_any); do
    convfilt apply box3 in.pgm got.pgm --mode $mode --strategy "$name" -q
    cmp want.pgm got.pgm || fail "$name, $mode"
  done
done
# Nothing is left of a picture smaller than the mask; full has zeros around it.
try apply box5 in.pgm none.pgm --mode valid
try blur in.pgm none.pgm --mode full --border wrap
[ ! -e none.pgm ] || fail "a refusal wrote a picture"
