# The same with --in-place: the picture is never lost.
printf 'P5\n3000 3000\n255\n' >in.pgm
head -c 9000000 < <(yes 'any bytes will do as pixels') >>in.pgm
start=$EPOCHREALTIME
convfilt blur --box 3 in.pgm new.pgm
whole=$((${EPOCHREALTIME/./} - ${start/./}))
mkdir folder
for i in $(seq 1 8); do
  cp in.pgm folder/in.pgm
  microseconds=$((whole * (50 + i * 6) / 100))
  timeout --foreground -s KILL "$((microseconds / 1000000)).$(printf %06d $((microseconds % 1000000)))" \
    "$CONVFILT" blur --box 3 folder/in.pgm folder/in.pgm --in-place 2>/dev/null || true
  cmp -s in.pgm folder/in.pgm || cmp -s new.pgm folder/in.pgm || fail "try $i: the picture is lost"
done
