# What cannot be written in any picture is refused before a folder is made; what one picture's name says fails it alone.
mkdir photos
cp samples/camera.png photos/a.png
cp samples/camera.png photos/b.gif
try blur photos none --format gif
try blur photos none --format pgn
try blur photos none --quality 101 --dry-run
try blur photos none --compression 99
[ ! -e none ] || fail "a folder was made"
try blur photos out --dry-run
try blur photos out
only out .convfilt-journal a.png
try blur photos out --glob '*' --name '{stem}' --dry-run
# A GIF's result has a place where its format is another.
try blur photos pngs --format png
only pngs .convfilt-journal a.png b.png
