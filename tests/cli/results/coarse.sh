# Strategy coarse: a flat picture stays as it is, the longest and the highest agree, and every mode is that of separable,
# within a step.
blur() { convfilt blur --sigma 8 "$@" -q; }
{ printf 'P5\n90 81\n255\n'; head -c 7290 /dev/zero | tr '\0' 'M'; } >flat.pgm
for border in replicate reflect reflect101 wrap; do
  blur flat.pgm out.pgm --strategy coarse --border $border
  same flat.pgm out.pgm
done
printf 'P5\n200000 1\n255\n' >wide.pgm; head -c 200000 samples/coffee.png >>wide.pgm
printf 'P5\n1 200000\n255\n' >high.pgm; head -c 200000 samples/coffee.png >>high.pgm
for shape in wide high; do blur $shape.pgm $shape-out.pgm --strategy coarse; done
# The difference between two files' last N bytes, sample by sample, is at most 1.
near() { # A B N
  paste <(tail -c "$3" "$1" | od -An -v -w1 -tu1) <(tail -c "$3" "$2" | od -An -v -w1 -tu1) |
    awk '{ d = $1 - $2; if (d > 1 || d < -1) exit 1 }' || fail "$1 and $2 differ by more than a step"
}
near wide-out.pgm high-out.pgm 200000
for mode in same valid full; do
  for how in separable coarse; do blur samples/camera.png $mode-$how.pgm --strategy $how --mode $mode; done
  near $mode-separable.pgm $mode-coarse.pgm 200000
done
