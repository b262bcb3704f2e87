# No result replaces the file of a mask.
printf '1 2 1\n' >mine.txt
cp mine.txt before.txt
cp mine.txt mine.svg
try compare --mask mine.txt --csv=mine.txt
try apply mine.txt samples/camera.png mine.txt --format png
try explain tiled-in --mask mine.svg --picture mine.svg
try compare --strategies tiled-out:tile=16,halo=two-step
same mine.txt before.txt
same mine.svg before.txt
only . before.txt mine.svg mine.txt
