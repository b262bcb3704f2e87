# Where results go, and which picture a message is about.
mkdir photos
cp samples/camera.png photos/a.png
# What follows -o is a folder, however many pictures there are.
try blur photos/a.png -o new
only new .convfilt-journal a.png
try blur photos/a.png -o again --format pgm
only again .convfilt-journal a.pgm
try blur photos/a.png -o z.png
# A name that is not there is what is wrong, not the place of its results.
try blur fotos/ out
try blur fotos/a.png out
try blur fotos/a.png -o out
echo photos/a.png >list
try blur --files-from list
# A reason names its picture, where the command as a whole is right.
cp photos/a.png photos/b.png
printf 'P5 2 2 255\nabcd' >photos/c.pgm
try blur photos regions --region 0,0,300,300
try blur photos regions --region 0,0,300,300 --json -q | sort
try blur photos/c.pgm out/ --max-memory 100
