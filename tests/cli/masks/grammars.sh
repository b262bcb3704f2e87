# The same box, written in all the ways that are read, gives the same bytes.
convfilt apply box3 samples/camera.png expected.pgm
check() { convfilt apply "./$1" samples/camera.png out.pgm; same expected.pgm out.pgm; }
printf '1/9 1/9 1/9\n1/9 1/9 1/9\n1/9 1/9 1/9\n' >fractions; check fractions
printf 'scale: 9\n1,1,1\n1, 1 ,1\n1\t1 1\n' >separators; check separators
printf '\357\273\2771 1 1\r\n1 1 1 # a comment\r\n\r\n1 1 1\r\nscale: 9\r\nanchor: 1 1\r\nname: any\r\n' >windows; check windows
printf '3 3 9 0\n1 1 1\n1 1 1\n1 1 1\n' >vips.mat; check vips.mat
printf '3x3+1+1: 1,1,1, 1,1,1, 1,1,1\nscale: 9' >magick; check magick
printf 'scale: 0.9\n.1 1e-1 0.1\n+.1 .1 .1\n.10 1/10 .1' >decimals; check decimals
printf 'scale: -9\n-1 -1 -1\n-1 -1 -1\n-1 -1 -1\n' >negative; check negative
# A grid that could be a vips matrix is a grid, and a warning says so unless -q is given.
printf '3 3 9\n1 1 1\n1 1 1\n1 1 1\n' >doubtful
try apply ./doubtful samples/camera.png out.pgm --normalize
try apply ./doubtful samples/camera.png out.pgm --normalize -q
