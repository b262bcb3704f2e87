# Several masks in a file are one picture, in one pass, whatever the threads.
picture=samples/coffee.png
printf 'combine: max\nrotate: 8\n-3 -3 5\n-3 0 5\n-3 -3 5\n' >kirsch.txt
convfilt edge "$picture" edges.ppm --method kirsch --color --sigma 0 --gain 15
for threads in 1 2 5; do
  convfilt apply kirsch.txt "$picture" masks.ppm --threads $threads
  cmp edges.ppm masks.ppm
done
printf '3x3@: -3,-3,5,-3,0,5,-3,-3,5\n' >magick.txt
convfilt apply magick.txt "$picture" masks.ppm
cmp edges.ppm masks.ppm
# A mask and its part with the other sign are nothing together; a file of one mask is as ever.
printf 'combine: sum\n1 2\n---\noffset: 3\n-1 -2\n' >nothing.txt
convfilt apply nothing.txt "$picture" nothing.pgm --luma
printf 'offset: 3\n0\n' >three.txt
convfilt apply three.txt "$picture" three.pgm --luma
cmp nothing.pgm three.pgm
try mask check kirsch.txt
try mask show kirsch.txt
try apply kirsch.txt "$picture" out.png --device emulator
printf '1\n---\n' >empty.txt
try apply empty.txt "$picture" out.png
