# A header that promises too much is refused before memory is taken: quickly, and in little memory.
convfilt --version >/dev/null
small() { (ulimit -v 1500000; ulimit -t 5; convfilt "$@"); }  # KiB, and seconds of a core
SECONDS=0
small --version >/dev/null 2>&1 || skip "the program does not start under ulimit -v; is it built with a sanitizer?"
pgm one.pgm <<<1
# 30000 x 30000 (7530 in hexadecimal) is beyond the limit.
printf 'P6\n30000 30000\n255\n' >bomb.ppm
printf 'P7\nWIDTH 30000\nHEIGHT 30000\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n' >bomb.pam
printf 'PF\n30000 30000\n-1\n' >bomb.pfm
# A PNG's header ends with its checksum.
printf '\211PNG\r\n\032\n\0\0\0\015IHDR\0\0\165\060\0\0\165\060\010\002\0\0\0\351\105\157\355' >bomb.png
printf '\0\0\0\0IDAT\065\257\006\036' >>bomb.png
convfilt apply identity one.pgm bomb.bmp
printf '\060\165\0\0\060\165\0\0' | patch bomb.bmp 18
convfilt apply identity samples/rocket.jpg bomb.jpg
# Height and width of a JPEG follow its SOF0 marker, ff c0, its length, 00 11, and its depth, 08.
before=$(od -An -v -tx1 -w1 bomb.jpg | tr -d ' \n' | sed 's/ffc0001108.*//')
printf '\165\060\165\060' | patch bomb.jpg $((${#before} / 2 + 5))
for in in ppm pam pfm png bmp jpg; do
  code=0; small blur bomb.$in out.png 2>said || code=$?
  grep -q "^convfilt: cannot read 'bomb.$in': its header promises [0-9]*x[0-9]* pixels, more than the limit of 536870912; raise it with --max-pixels" said ||
    fail "$in: $(cat said)"
  [ $code = 1 ] || fail "$in: exit code $code"
done
[ $SECONDS -lt 60 ] || fail "six pictures were refused in $SECONDS s"
printf 'P6\n100000 100000\n255\n' >monster.ppm
try blur monster.ppm out.png
# A file of holes costs nothing to make.
truncate -s 3G huge.png
code=0; small blur huge.png out.png 2>huge.said || code=$?
[ $code = 1 ] && grep -q "^convfilt: cannot read 'huge.png': not a picture of a known format" huge.said ||
  fail "exit code $code: $(cat huge.said)"
# It does not help to take what can be read.
try blur bomb.ppm out.png --on-damage=warn
# The limit can be set: 512x512 pixels are 262144.
try blur samples/camera.png out.png --max-pixels 262143
[ ! -e out.png ]
try blur samples/camera.png out.png --max-pixels 262144
# A picture that is allowed, but larger than the memory there is, is an error as well.
printf 'P5\n30000 30000\n255\n' >large.pgm
code=0; small blur large.pgm out2.png --max-pixels 1000000000 2>said || code=$?
[ $code = 1 ] && [ "$(wc -l <said)" = 1 ] && [ ! -e out2.png ] || fail "exit code $code: $(cat said)"
