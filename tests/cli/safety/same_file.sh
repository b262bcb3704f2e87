# It is refused that IN and OUT are one file, by whatever names; --in-place replaces it.
cp samples/camera.png in.png
ln -s in.png soft.png
ln in.png hard.png
mkdir folder; ln -s ../in.png folder/up.png
for out in in.png ./in.png "$PWD/in.png" folder/../in.png soft.png hard.png folder/up.png; do
  code=0; convfilt blur in.png "$out" 2>said || code=$?
  [ $code = 2 ] || fail "$out: exit code $code"
  grep -q "^convfilt: input and output are the same file, '.*'; --in-place replaces it$" said || fail "$out: $(cat said)"
done
try blur - in.png <in.png
try blur soft.png hard.png
same samples/camera.png in.png
convfilt blur in.png expected.png
try blur in.png in.png --in-place
same expected.png in.png
# Only the name that was said is replaced; the old file's other names keep it.
same samples/camera.png hard.png
# Through a link the file is replaced, not the link.
cp samples/camera.png in.png
try blur soft.png soft.png --in-place
[ -L soft.png ] || fail "the link was replaced"
same expected.png in.png
only . in.png soft.png hard.png folder expected.png said
