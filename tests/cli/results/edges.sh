# Edges of a step of 10, by hand: sobel (1+2+1)*10, scharr (3+10+3)*10, prewitt (1+1+1)*10, laplacian 10 and -10.
pgm step.pgm <<'P'
10 10 20 20
10 10 20 20
10 10 20 20
P
plain='--color --sigma 0 --gain'  # the masks of textbooks
for how in 'sobel 4' 'scharr 16' 'prewitt 3' 'laplacian 1'; do
  method=${how% *}
  convfilt edge step.pgm out.pgm --method $method $plain ${how#* }; show out.pgm | sed -n "2s/^/$method: /p"
done
convfilt edge step.pgm out.pgm $plain 4 --direction x; show out.pgm | sed -n '2s/^/x: /p'
convfilt edge step.pgm out.pgm $plain 4 --direction y; show out.pgm | sed -n '2s/^/y: /p'
# Both directions, in the middle row of a corner: gx = gy = 10 at its left: sqrt(200) = 14.1; gx = gy = 40 in the
# middle: 56.6; gx = 40 - 10 and gy = 70 at the right, where the last column is there twice: sqrt(5800) = 76.2.
pgm corner.pgm <<'P'
0 0 0
0 0 10
0 10 20
P
convfilt edge corner.pgm out.pgm $plain 4; show out.pgm | sed -n 3p
# Brighter or darker to the right is the same to a gradient, but not to a signed mask.
convfilt apply sobel_x step.pgm out.pgm; show out.pgm | sed -n 2p
convfilt apply sobel_x step.pgm out.pgm --flip; show out.pgm | sed -n 2p
# The answer to a step of 10 is 15 by every method, and 2 * 10 with that gain.
for _ in {1..24}; do echo 100 100 100 100 100 100 100 100 100 100 100 100 110 110 110 110 110 110 110 110 110 110 110 110; done | pgm wide.pgm
brightest() { show out.pgm | tail -n +2 | tr ' ' '\n' | sort -n | tail -n 1; }
for method in sobel scharr prewitt roberts farid freichen kirsch robinson laplacian log dog; do
  for how in '' '--sigma 2' '--gain 2'; do convfilt edge wide.pgm out.pgm --method $method $how; echo "$method $how: $(brightest)"; done
done
# Thin lines, black and white, and directions, in a row.
row() { convfilt edge wide.pgm out.pgm "$@"; echo "$*: $(show out.pgm | sed -n 12p)"; }
row --thin
row --method log --thin
row --threshold 10
row --threshold 15.5
row --method canny --low 3 --high 12
row --direction angle --sigma 0
row --direction angle --sigma 0 --flip
# Directions as colours: red as bright as the edge to the right, and cyan to the left. Colours stay as they are beside them.
hue() { convfilt edge "$1" out.ppm --sigma 0 --gain 4 --direction hue "${@:2}"; echo "hue ${*:2}: $(show out.ppm | sed -n 3p)"; }
hue step.pgm
hue step.pgm --flip
hue step.pgm --threshold 30
convfilt apply identity step.pgm step.ppm
hue step.ppm
hue step.ppm --region 2,0,2,3
for threads in 1 3; do
  convfilt edge samples/chelsea.png hue$threads.png --direction hue --thin --threads $threads
done
same hue1.png hue3.png
