# What lies outside, by hand: the mask 1 0 0 0 0 takes the pixel two to the left, so 10 20 30 40 becomes
# ? ? 10 20, and the two ghosts show the border's rule.
echo 1 0 0 0 0 >two-left.txt
pgm in.pgm <<<"10 20 30 40"
for border in replicate constant reflect reflect101 wrap; do
  convfilt apply ./two-left.txt in.pgm out.pgm --border $border
  show out.pgm | sed "1d; s/^/$border: /"
done
convfilt apply ./two-left.txt in.pgm out.pgm --border constant --border-value 99
show out.pgm | sed "1d; s/^/constant 99: /"
# The same holds upwards, and for strategies that handle borders in ways of their own.
printf '1\n0\n0\n0\n0\n' >two-up.txt
printf '%s\n' 10 20 30 40 | pgm in.pgm
for name in basic texture separable; do
  for border in replicate constant reflect reflect101 wrap; do
    value=$([ $border = constant ] && echo --border-value=5 || true)
    convfilt apply ./two-up.txt in.pgm out.pgm --border $border $value --strategy "$name" -q
    show out.pgm | tail -n +2 | tr '\n' ' ' | sed "s/^/$border upwards: /; s/ $/\n/"
  done
done | sort -u
# A picture smaller than the mask: reflections and wraps go on. Sums of 7 pixels, around the first and the second:
#   replicate   1 1 1|1 2|2 2 2 ..   reflect  2 2 1|1 2|2 1 1   reflect101 and wrap  2 1 2|1 2|1 2 1
echo 1 1 1 1 1 1 1 >seven.txt
pgm in.pgm <<<"1 2"
for border in replicate constant reflect reflect101 wrap; do
  convfilt apply ./seven.txt in.pgm out.pgm --border $border
  show out.pgm | sed "1d; s/^/small $border: /"
done
