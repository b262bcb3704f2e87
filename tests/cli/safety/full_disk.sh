# A full disk: an error, the old file as it was, no litter, and room again as soon as there is some.
need_root
mkdir disk
mount -t tmpfs -o size=400k convfilt-test disk 2>/dev/null || skip "no tmpfs can be mounted here"
trap 'umount -l disk' EXIT
convfilt apply identity samples/camera.png expected.pgm   # 257 KiB
try apply identity samples/camera.png disk/out.pgm
same expected.pgm disk/out.pgm
cp disk/out.pgm old.pgm
# There is no room for a second one beside it.
try blur samples/camera.png disk/out.pgm
same old.pgm disk/out.pgm
try blur samples/camera.png disk/new.pgm
only disk out.pgm
try blur disk/out.pgm disk/out.pgm --in-place
same old.pgm disk/out.pgm
only disk out.pgm
# Neither a byte more than there is, nor one less.
rm disk/out.pgm
try apply identity samples/coffee.png disk/out.ppm
only disk
try apply identity samples/camera.png disk/out.pgm
same expected.pgm disk/out.pgm
# The temporary file of a pipe: the message names it, and the remedy.
rm disk/out.pgm; mkdir disk/full
head -c 1M </dev/zero >disk/rest 2>/dev/null || true
TMPDIR=$PWD/disk/full try apply identity samples/camera.png - --format pgm >said
TMPDIR=$PWD/disk/full try apply identity - out.pgm <expected.pgm
[ ! -s said ] && [ ! -e out.pgm ] || fail "something was written"
