# Edges of a step of 10, by hand: sobel (1+2+1)*10, scharr (3+10+3)*10, prewitt (1+1+1)*10, laplacian 10 and -10.
pgm step.pgm <<'P'
10 10 20 20
10 10 20 20
10 10 20 20
P
for method in sobel scharr prewitt laplacian; do
  convfilt edge step.pgm out.pgm --method $method; show out.pgm | sed -n "2s/^/$method: /p"
done
convfilt edge step.pgm out.pgm --direction x; show out.pgm | sed -n '2s/^/x: /p'
convfilt edge step.pgm out.pgm --direction y; show out.pgm | sed -n '2s/^/y: /p'
# Both directions, in the middle row of a corner: gx = gy = 10 at its left: sqrt(200) = 14.1; gx = gy = 40 in the
# middle: 56.6; gx = 40 - 10 and gy = 70 at the right, where the last column is there twice: sqrt(5800) = 76.2.
pgm corner.pgm <<'P'
0 0 0
0 0 10
0 10 20
P
convfilt edge corner.pgm out.pgm; show out.pgm | sed -n 3p
# Brighter or darker to the right is the same to a gradient, but not to a signed mask.
convfilt apply sobel_x step.pgm out.pgm; show out.pgm | sed -n 2p
convfilt apply sobel_x step.pgm out.pgm --flip; show out.pgm | sed -n 2p
