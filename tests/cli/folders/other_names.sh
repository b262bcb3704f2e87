# Pictures whose names no format here has are not passed over in silence, unless --glob says what is taken.
mkdir -p photos/more
cp samples/camera.png photos/a.png
convfilt apply identity samples/camera.png a.jpg -q
for name in b.MPO c.dng d.cr2 more/e.btf; do cp a.jpg photos/$name; done
touch photos/notes.txt photos/.hidden.mpo
try blur -r photos out --json >said
[ "$(grep -c '"passed over"' said)" = 4 ] || fail "$(cat said)"
only out .convfilt-journal a.png
try blur photos out --dry-run
try blur photos out --dry-run --json -q
# What it proposes works.
convfilt blur photos out --glob '*.MPO' --format png -q
only out .convfilt-journal a.png b.png
try blur photos/more none
# Without such pictures, nothing is said.
rm -r photos/*.* photos/more
cp samples/camera.png photos/a.png
touch photos/notes.txt
convfilt blur photos plain -q 2>said
[ ! -s said ] || fail "$(cat said)"
