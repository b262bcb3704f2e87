# --in-place replaces no file of which the result would lack a part: pages, frames, what follows the picture.
# Two pages of 4x3 grey pixels: the directories follow the header, the pixels of both lie behind them.
page() { # NEXT: a directory, whose pixels lie at byte 220; NEXT is where the next directory begins
  printf '\10\0'
  printf '\0\1\3\0\1\0\0\0\4\0\0\0' # width
  printf '\1\1\3\0\1\0\0\0\3\0\0\0' # height
  printf '\2\1\3\0\1\0\0\0\10\0\0\0' # bits
  printf '\6\1\3\0\1\0\0\0\1\0\0\0'
  printf '\21\1\4\0\1\0\0\0\334\0\0\0' # where the pixels lie
  printf '\25\1\3\0\1\0\0\0\1\0\0\0'
  printf '\26\1\3\0\1\0\0\0\3\0\0\0'
  printf '\27\1\4\0\1\0\0\0\14\0\0\0'
  printf "$1"
}
{ printf 'II*\0\10\0\0\0'; page '\156\0\0\0'; page '\0\0\0\0'; head -c 24 /dev/zero; } >pages.tif
{ cat samples/rocket.jpg; printf 'a part behind the picture'; } >behind.jpg
cp samples/camera.png one.png
mkdir all; cp pages.tif behind.jpg one.png all/
try blur pages.tif pages.tif --in-place --pages first
try blur pages.tif pages.tif --in-place -q --pages first
try blur pages.tif pages.tif --in-place -q --page 1
ln -s pages.tif soft.tif; ln pages.tif hard.tif; mkdir folder; ln -s ../pages.tif folder/up.tif
for out in ./pages.tif "$PWD/pages.tif" soft.tif hard.tif folder/up.tif; do
  code=0; convfilt blur pages.tif "$out" --in-place -q --pages first 2>said || code=$?
  [ $code = 1 ] || fail "$out: exit code $code"
  grep -q "^convfilt: cannot replace '.*' by a result that lacks a part of it (only the first of its 2 pictures is read); write to another file$" said || fail "$out: $(cat said)"
done
try blur - pages.tif --in-place -q --pages first <pages.tif
try blur behind.jpg behind.jpg --in-place -q --on-damage=warn
try blur one.png one.png --in-place --loader=opencv
same pages.tif all/pages.tif
same behind.jpg all/behind.jpg
# In a folder such pictures fail, and the others are replaced.
try blur all all --in-place -q --on-damage=warn --threads 1 --pages first
same pages.tif all/pages.tif
same behind.jpg all/behind.jpg
convfilt blur one.png blurred.png
same blurred.png all/one.png
# Another file takes it.
try blur pages.tif first.png
