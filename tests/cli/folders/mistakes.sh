# Folders that are not there, links that lead nowhere, options that contradict each other, and an OUT among the inputs.
mkdir -p photos/done out
for name in a b; do cp samples/camera.png photos/$name.png; done
cp samples/camera.png photos/done/c.png
try blur photoz out -r
try blur photoz/ missing/ --format png
try blur photoz/ missing/ --dry-run
ln -s nowhere photos/lost.png
try blur photos out
rm photos/lost.png
try blur photos out --newer --if-exists skip
try blur photos out --devices x
try blur photos photos/done -r
try blur photos/a.png photos/a.ppm --compression 3 --progressive --optimize --subsampling 444
echo photos >list
try blur --files-from list listed
