# Where a mask is looked for: a file, a name, a folder of one's own; and what is no mask.
try apply ./missing.txt samples/camera.png out.png
try apply missing/box3 samples/camera.png out.png
try apply filters samples/camera.png out.png
try apply ./filters samples/camera.png out.png
head -c 200 samples/camera.png | tail -c 100 >bytes.txt
try apply bytes.txt samples/camera.png out.png
try apply $'a\nb' samples/camera.png out.png
mkdir mine
echo '# My own' >mine/mine.txt
echo '1 2 1' >>mine/mine.txt
CONVFILT_FILTERS=mine try apply mine samples/camera.png mine.pgm
CONVFILT_FILTERS=mine convfilt list masks | grep -w mine
convfilt apply mine/mine.txt samples/camera.png mine2.pgm
same mine.pgm mine2.pgm
CONVFILT_FILTERS=missing try apply box3 samples/camera.png out.png
[ ! -e out.png ]
# A broken mask among the filters is named; the others are listed.
echo '1 x' >mine/broken.txt
CONVFILT_FILTERS=mine try list masks >list
grep -w mine list
! grep -w broken list
