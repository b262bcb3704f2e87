# A JPEG is written in every format, by the output's name, or by --format where the name says nothing or something else.
try blur samples/rocket.jpg out.png
for format in jpg png tif webp bmp ppm pam pfm jp2; do
  convfilt blur samples/rocket.jpg out.$format
  echo "$format $(shape out.$format) $(head -c 12 out.$format | od -An -tx1)"
done
convfilt blur samples/rocket.jpg picture --format png
same out.png picture
try blur samples/rocket.jpg picture.jpg --format PNG
same out.png picture.jpg
convfilt blur samples/rocket.jpg OUT.PNG
same out.png OUT.PNG

# A PNG of a JPEG holds the same pixels as the PPM of it.
convfilt apply identity out.png png.ppm
same out.ppm png.ppm

# A lower quality makes a smaller file; where there is none to set, a warning says so.
convfilt blur samples/rocket.jpg q20.jpg --quality 20
convfilt blur samples/rocket.jpg q90.jpg --quality=90
[ "$(stat -c %s q20.jpg)" -lt "$(stat -c %s q90.jpg)" ] || fail "--quality does nothing"
try blur samples/rocket.jpg out.png --quality 20
