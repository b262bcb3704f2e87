# --linear, --luma, --region and --output, where the result is known by hand; and what they refuse.
printf 'P5\n2 1\n255\n\000\377' >edge.pgm
printf '1 1\nscale: 2\nanchor: 1 0\n' >mean.txt
convfilt apply mean.txt edge.pgm out.pgm; show out.pgm
convfilt apply mean.txt edge.pgm out.pgm --linear; show out.pgm
printf -- '-1 1\nanchor: 1 0\n' >step.txt
printf 'P5\n3 1\n255\n\310\144\144' >down.pgm
for output in clamp abs signed; do convfilt apply step.txt down.pgm out.pgm --output $output; show out.pgm; done
convfilt edge samples/coffee.png out.png --luma; shape out.png
convfilt blur samples/coffee.png out.ppm --region 10,20,30,40 --sigma 5
convfilt apply identity samples/coffee.png in.ppm
echo "$(cmp -l in.ppm out.ppm | wc -l | awk '{ print ($1 > 1000 && $1 <= 3600) }')"
# A disk of 5 pixels across lacks the corners of its box. One of the boxes beside it lies in the other.
for _ in 1 2 3 4 5 6; do echo 0 200 0 200 0 200 0 200; done | pgm stripes.pgm
convfilt apply mean.txt stripes.pgm out.pgm --region ellipse:1,0,5,5 --region 5,0,3,1 --region 6,0,1,1; show out.pgm
try blur samples/camera.png out.png --region 1,1,5,5 --region 500,0,13,5
try blur samples/camera.png out.png --region ellipse:0,0,9
try blur samples/camera.png out.png --region circle:0,0,9,9
try blur samples/camera.png out.png --region 1,2,3
try blur samples/camera.png out.png --region 1,2,0,4
try blur samples/camera.png out.png --luma --mode valid
try blur samples/camera.png out.png --output absolute
