# What is no picture: each says what it is and leaves no output.
mkdir folder
: >empty.png
echo 'not a picture' >text.png
head -c 5000 /dev/zero >zeros.png
head -c 3 samples/rocket.jpg >three.jpg
mkfifo closed; : >closed &
for in in missing.png samples/missing/in.png text.png/in.png folder empty.png text.png zeros.png three.jpg /dev/null closed $'a\nb.png' ''; do
  try blur "$in" out.png
done
try blur - out.png </dev/null
try blur - out.png <&-
try blur - out.png <folder
[ ! -e out.png ]
if [ "$(id -u)" != 0 ]; then
  cp samples/camera.png secret.png; chmod 000 secret.png
  try blur secret.png out.png 2>said || true
  grep -q "Permission denied; change its permissions" said
fi
