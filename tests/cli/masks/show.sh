# The weights as a grid, the response as a drawing, and as a picture.
convfilt mask show sobel_x
convfilt mask show identity | sed -n '/^What/,$!p'
# A mask that is too wide shows its middle.
for y in {1..40}; do echo {1..40}; done >wide.txt
COLUMNS=100 convfilt mask show wide.txt | sed -n '1,/^$/p' | head -n 3
# The picture: constants in the middle are passed whole, so they are white; box3 passes none of 1/3 cycle a pixel.
convfilt mask show box3 --output box.pgm >said
show box.pgm >numbers
head -n 1 numbers
awk 'NR == 130 { print $1, $129, $257 }' numbers
grep -q '@' said && fail "the drawing is there beside the picture"
grep -x "Amplitudes of all waves are in 'box.pgm'.*\|.*white is.*" said
grep -q 'along x' said || fail "the gains are missing: $(cat said)"
only . wide.txt box.pgm said numbers
