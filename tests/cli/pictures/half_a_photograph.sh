# Half a photograph, taken as it is: the upper half is there, as it was.
size=$(stat -c %s samples/rocket.jpg)
head -c $((size / 2)) samples/rocket.jpg >cut.jpg
try apply identity cut.jpg out.ppm
[ ! -e out.ppm ]
try apply identity cut.jpg out.ppm --on-damage=warn
convfilt apply identity samples/rocket.jpg whole.ppm -q
head -n 2 out.ppm | tail -n 1
head -c 200000 out.ppm | cmp - <(head -c 200000 whole.ppm)
differ out.ppm whole.ppm
