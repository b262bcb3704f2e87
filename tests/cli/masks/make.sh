# Masks by formula, as text. A disk of radius 1.5: its corner pixels reach from 0.5 to 1.5 in x and y, of which the circle covers
# 139 of 255ths; the pixels at the sides miss a sliver; the middle is whole.
convfilt mask make disk --radius 1.5
convfilt mask make binomial --side 3
convfilt mask make motion --length 3
convfilt mask make motion --length 3 --angle 90
# What is printed is read back: the same picture comes out as from the filters' own options.
pgm one.pgm <<'P'
0 0 0 0 0 0 0 0 0
0 0 9 0 0 0 250 0 0
0 0 0 0 77 0 0 0 0
0 0 0 0 0 0 0 0 8
P
agrees() {  # BLUR'S OPTION AND VALUE, MAKE'S WORDS...
  local option=$1 value=$2; shift 2
  convfilt mask make "$@" >made.txt
  convfilt apply ./made.txt one.pgm applied.pgm
  convfilt blur one.pgm blurred.pgm "$option" "$value"
  same applied.pgm blurred.pgm
  convfilt apply ./made.txt samples/rocket.jpg applied.png
  convfilt blur samples/rocket.jpg blurred.png "$option" "$value"
  same applied.png blurred.png
}
agrees --disk 2.3 disk --radius 2.3
agrees --motion 7@30 motion --length 7 --angle 30
agrees --motion 7 motion --length 7
agrees --binomial 5 binomial --side 5
agrees --sigma 1.5 gaussian --sigma 1.5
agrees --sigma 1.5,0.7 gaussian --sigma 1.5,0.7
agrees --sigma 0,2 gaussian --sigma 0,2
# Two sigmas that are equal are one.
convfilt blur one.pgm a.pgm --sigma 2,2
convfilt blur one.pgm b.pgm
same a.pgm b.pgm
# These sum to 0, and are of the size that they should be.
for words in "dog --sigma 1 --outer 1.6" "highpass --sigma 2" "log --sigma 1.4" "gabor --sigma 3 --wavelength 6 --angle 30 --phase 90 --aspect 2"; do
  # shellcheck disable=SC2086  # words
  convfilt mask make $words >made.txt
  head -n 1 made.txt
  convfilt mask check made.txt | sed -n '2,3p'
done
# What is wrong.
try mask make disc --radius 3
try mask make disk
try mask make disk --radius 0.4
try mask make disk --radius 3 --sigma 2
try mask make gabor --sigma 3
try mask make gabor --sigma 0.3 --wavelength 1000
try mask make dog --sigma 2 --outer 1
try mask make dog --sigma 1,2 --outer 3
try mask make gaussian --sigma 0,0
try mask make binomial --side 28
try mask make motion --length 9 --angle 400
try mask make disk --radius 3 --size 9x9
try mask make disk --radius 3 --output disk.png
try mask show box3 --radius 3
