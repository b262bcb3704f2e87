# Standard input and output, as - or as a device: the picture and nothing else goes through.
convfilt blur samples/rocket.jpg expected.png
convfilt blur - - --format png <samples/rocket.jpg >out.png; same expected.png out.png
convfilt blur - out.png <samples/rocket.jpg; same expected.png out.png
convfilt blur samples/rocket.jpg - --format png >out.png; same expected.png out.png
cat samples/rocket.jpg | convfilt blur - - --format png | cat >out.png; same expected.png out.png
convfilt blur - - --format png -v <samples/rocket.jpg >out.png 2>said; same expected.png out.png
grep -q '^convfilt: read -: 640x427x3 u8' said
convfilt blur /dev/stdin /dev/stdout --format png <samples/rocket.jpg >out.png; same expected.png out.png
convfilt blur <(cat samples/rocket.jpg) out.png; same expected.png out.png
convfilt apply <(echo 1 2 1) samples/rocket.jpg out.png; differ expected.png out.png
# Commands can be chained, and the shell can append their output.
convfilt blur samples/rocket.jpg - --format pam -q | convfilt edge - - --format pam | convfilt sharpen - edges.png
printf 'before\n' >appended
convfilt blur samples/rocket.jpg - --format png >>appended
tail -n +2 appended | cmp - expected.png
# What begins like no picture is not read to its end, which it may not have.
for endless in /dev/zero /dev/stdin; do
  code=0; convfilt blur "$endless" none.png < <(yes) 2>said || code=$?
  [ $code = 1 ] && grep -q ': not a picture of a known format' said || fail "$endless: exit code $code: $(cat said)"
done
# A stream is kept in a file, for which TMPDIR may name a folder; without one there are others.
cat samples/rocket.jpg | TMPDIR=/nowhere convfilt blur - - --format png | cat >out.png; same expected.png out.png
mkdir temporary
cat samples/rocket.jpg | TMPDIR=$PWD/temporary convfilt blur - - --format png | cat >out.png; same expected.png out.png
only temporary
