# The depth of a result, from the command line to the file.
head_of() { head -n "$2" "$1" | tail -n 1; }
convfilt apply identity samples/camera.png wide.pgm --depth u16
head_of wide.pgm 3
convfilt apply identity wide.pgm narrow.pgm --depth u8
convfilt apply identity samples/camera.png same.pgm
cmp narrow.pgm same.pgm
# Floats keep what 8 bits cut off: the response and that of the flipped mask sum to 0.
for threads in 1 3; do
  convfilt apply sobel_x samples/camera.png edges.pfm --depth f32 --threads $threads
  mv edges.pfm edges$threads.pfm
done
cmp edges1.pfm edges3.pfm
convfilt apply sobel_x samples/camera.png edges.tif --depth f32
convfilt apply identity edges.tif back.pfm
cmp edges1.pfm back.pfm
perl -e '
  open my $file, "<:raw", "edges1.pfm" or die; local $/; my $text = <$file>;
  my @samples = unpack "f<*", substr $text, -512 * 512 * 4;
  my ($below, $above) = (0, 0);
  for (@samples) { $below += $_ < 0; $above += $_ > 1 }
  print "$below below 0, $above above 1\n"'
# A picture of that depth stays as without the option.
convfilt blur samples/camera.png plain.png
convfilt blur samples/camera.png said.png --depth u8
cmp plain.png said.png
try apply sobel_x samples/camera.png out.png --depth f32
try blur samples/camera.png out.jpg --depth u16
try blur samples/camera.png out.png --depth f32 --region 0,0,9,9
try blur samples/ out/ --depth u16 --codec gpu
try blur samples/camera.png out.png --depth u32
