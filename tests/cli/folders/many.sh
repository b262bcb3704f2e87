# Many inputs, and a folder: where results go, which files are taken, and what is said.
mkdir -p photos/holiday photos/.hidden
cp samples/camera.png photos/a.png
cp samples/camera.png photos/holiday/b.png
cp samples/camera.png photos/.hidden/c.png
echo text >photos/notes.txt
convfilt blur samples/camera.png expected.png
try blur photos/ out/
only out .convfilt-journal a.png
same expected.png out/a.png
try blur photos -o deep/new/out -r
same expected.png deep/new/out/holiday/b.png
only deep/new/out .convfilt-journal a.png holiday
try blur photos/a.png photos/holiday -o two
only two .convfilt-journal a.png b.png
try blur photos/a.png two/ --name '{stem}_blur{ext}'
same expected.png two/a_blur.png
try blur --glob 'b.*' photos -r --glob '*.b' -o pgm --format pgm
only pgm .convfilt-journal holiday
only pgm/holiday b.pgm
printf '\357\273\277%s\r\n' photos/a.png >list; printf '%s\n' photos/holiday/b.png >>list  # with UTF-8's mark
try apply identity --files-from list -o listed
only listed/photos a.png holiday
printf '%s\0' photos/a.png | try apply identity --files-from - -0 listed2
only listed2/photos a.png
try blur photos out -r --dry-run
try sharpen photos out -r --json -q >lines
sed 's/"device.*/.../; s/"bytes_out":[0-9]*/BYTES/' lines | sort
# One IN and one OUT stay what they were.
try blur photos/a.png single.png
