# Each file in filters/ is listed, with its size and its first comment, and can be applied by name.
convfilt list masks >list
[ "$(wc -l <list)" = "$(ls filters/*.txt | wc -l)" ] || fail "$(wc -l <list) filters are listed"
pgm in.pgm <<<"1 2 3"
for file in filters/*.txt; do
  name=$(basename "$file" .txt)
  comment=$(sed -n 's/^# *//p' "$file" | head -n 1)
  rows=$(grep -cE '^ *[-0-9]' "$file")
  grep -Eq "^  $name +[0-9]+x$rows  " list || fail "$name is not listed with $rows rows"
  grep -qF "  $comment" list || fail "the description of $name is not listed"
  convfilt apply "$name" in.pgm out.pgm
done
for name in identity box3 box5 gaussian3 gaussian5 gaussian7 sharpen3 unsharp5 laplacian3 laplacian8 log5 sobel_x sobel_y \
  scharr_x scharr_y prewitt_x prewitt_y emboss3 motion9 outline3; do
  grep -q "^  $name " list || fail "$name is missing"
done
