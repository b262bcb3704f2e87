# Killed at any moment while it writes over a file, that file is the whole old or the whole new one. SIGTERM, SIGINT and
# SIGHUP leave nothing else. SIGKILL cannot be answered: where the folder's file system has nameless files (O_TMPFILE),
# it can leave a whole picture named .convfilt-PID-N.tmp, if it comes between two system calls; elsewhere a part of one.
printf 'P6\n3000 1500\n255\n' >in.ppm
head -c 13500000 < <(yes 'any bytes will do as pixels') >>in.ppm
mkdir folder
start=$EPOCHREALTIME
convfilt blur --box 3 in.ppm new.ppm
whole=$((${EPOCHREALTIME/./} - ${start/./}))   # microseconds
echo old >old.ppm
cp old.ppm folder/out.ppm
killed=0
for i in $(seq 0 27); do
  signal=$([ $((i % 2)) = 0 ] && echo KILL || { set -- TERM INT HUP; shift $((i / 2 % 3)); echo "$1"; })
  # Half of them at any moment, half towards the end, where the writing is.
  microseconds=$((i % 4 < 2 ? whole * (i + 1) / 28 : whole * (60 + i * 2) / 100))
  code=0
  # As in a terminal: a shell's background jobs would ignore SIGINT.
  timeout --foreground -s $signal "$((microseconds / 1000000)).$(printf %06d $((microseconds % 1000000)))" \
    "$CONVFILT" blur --box 3 in.ppm folder/out.ppm 2>said || code=$?
  case $code in
    0) cmp new.ppm folder/out.ppm || fail "try $i: done, but another picture" ;;
    *) killed=$((killed + 1)); cmp -s old.ppm folder/out.ppm || cmp -s new.ppm folder/out.ppm ||
      fail "try $i, SIG$signal after $microseconds us: neither old nor new" ;;
  esac
  for litter in folder/.[!.]*; do
    [ -e "$litter" ] || continue
    [ $signal = KILL ] || fail "SIG$signal left $litter"
    [[ ${litter#folder/} =~ ^\.convfilt-[0-9]+-[0-9]+\.tmp$ ]] || fail "SIGKILL left $litter"
    echo "SIGKILL left $litter"   # allowed, but to be seen
    rm "$litter"
  done
  only folder out.ppm
  cp old.ppm folder/out.ppm
done
[ $killed -ge 10 ] || fail "only $killed of 28 were killed"
# A temporary file that a killed one left does not stop a later one.
convfilt blur --box 3 in.ppm folder/out.ppm
same new.ppm folder/out.ppm
