# A format that holds one picture has no other page.
convfilt apply identity samples/camera.png camera.jpg -q
convfilt apply identity samples/camera.png camera.pgm -q
for name in camera.jpg camera.pgm samples/camera.png; do
  try apply identity $name out.png --page 1
  convfilt apply identity $name out.png --page 0
done
