# What is wrong is said before anything is computed, with the place and the remedy.
pgm in.pgm <<<"1 2 3 4"
pgm theirs.pgm <<<"1 2 3 4"
pgm wide.pgm <<<"1 2 3 4 5"
pgm deep.pgm 65535 <<<"1 2 3 4"
echo 'P3 4 1 255 1 2 3 4 5 6 7 8 9 10 11 12' >colours.ppm
echo '1 2 x' >bad.txt
printf '1\n---\n2\n' >two.txt
echo '1 2 1' >m.txt
try check
try check in.pgm
try check in.pgm theirs.pgm
try check in.pgm theirs.pgm more.pgm --mask m.txt
try check - - --mask m.txt
try check missing.pgm theirs.pgm --mask m.txt
try check in.pgm missing.pgm --mask m.txt
try check in.pgm m.txt --mask m.txt
try check in.pgm theirs.pgm --mask bad.txt
try check in.pgm theirs.pgm --mask two.txt
try check in.pgm theirs.pgm --mask gausian5
try check in.pgm wide.pgm --mask m.txt
try check in.pgm deep.pgm --mask m.txt
try check in.pgm colours.ppm --mask m.txt
try check in.pgm theirs.pgm --mask m.txt --tolerance -1
try check in.pgm theirs.pgm --mask m.txt --border-value x
try check in.pgm theirs.pgm --mask m.txt --border-value 256
try check in.pgm theirs.pgm --mask m.txt --difference theirs.pgm
try check in.pgm theirs.pgm --mask m.txt --difference in.pgm
try check in.pgm theirs.pgm --mask m.txt --difference m.txt
try check in.pgm theirs.pgm --mask m.txt --difference where.xyz
try check in.pgm theirs.pgm --mask m.txt --difference nowhere/where.png
try check in.pgm theirs.pgm --mask m.txt --json=theirs.pgm
try check in.pgm theirs.pgm --mask m.txt --json=m.txt
try check in.pgm theirs.pgm --mask m.txt --json=nowhere/x.json
try check in.pgm theirs.pgm --mask m.txt --json=x.png --difference x.png
try check in.pgm theirs.pgm --mask m.txt --json out.json
try check in.pgm theirs.pgm --mask m.txt --tolerence 1
try check in.pgm theirs.pgm --mask m.txt -v -q
only . in.pgm theirs.pgm wide.pgm deep.pgm colours.ppm bad.txt two.txt m.txt
