# A program that is killed at any moment while it writes over a file leaves the whole old file or the whole new one.
# SIGTERM, SIGINT and SIGHUP leave nothing else. SIGKILL cannot be answered: where the folder's file system has nameless
# files (O_TMPFILE), it can leave a whole picture named .convfilt-PID-N.tmp, if it comes between two system calls;
# elsewhere a part of one.
printf 'P6\n3000 1500\n255\n' >in.ppm
head -c 13500000 < <(yes 'any bytes will do as pixels') >>in.ppm
mkdir folder
echo old >old.ppm
cp old.ppm folder/out.ppm
started() { start=$EPOCHREALTIME; }
elapsed() { echo $((${EPOCHREALTIME/./} - ${start/./})); }   # microseconds
started
convfilt blur --box 3 in.ppm new.ppm
whole=$(elapsed)
readonly kKills=28 kTries=140
killed=0
for ((i = 0; killed < kKills && i < kTries; ++i)); do
  signal=$([ $((killed % 2)) = 0 ] && echo KILL || { set -- TERM INT HUP; shift $((killed / 2 % 3)); echo "$1"; })
  # Half of them come at any moment, half towards the end, where the writing is.
  percent=$((killed % 4 < 2 ? 100 * (killed + 1) / kKills : 60 + 45 * killed / kKills))
  microseconds=$((whole * percent / 100))
  code=0
  started
  # The program runs as in a terminal, since a shell's background jobs would ignore SIGINT.
  timeout --foreground -s $signal "$((microseconds / 1000000)).$(printf %06d $((microseconds % 1000000)))" \
    "$CONVFILT" blur --box 3 in.ppm folder/out.ppm 2>said || code=$?
  case $code in
    # It was done before the signal came. How fast the machine is changes with its load, so later delays follow it.
    0) whole=$(elapsed)
      cmp new.ppm folder/out.ppm || fail "try $i: done, but another picture" ;;
    124 | 137) killed=$((killed + 1)); cmp -s old.ppm folder/out.ppm || cmp -s new.ppm folder/out.ppm ||
      fail "try $i, SIG$signal after $microseconds us: neither old nor new" ;;
    *) fail "try $i, SIG$signal after $microseconds us: exit code $code: $(cat said)" ;;
  esac
  for litter in folder/.[!.]*; do
    [ -e "$litter" ] || continue
    [ $signal = KILL ] || fail "SIG$signal left $litter"
    [[ ${litter#folder/} =~ ^\.convfilt-[0-9]+-[0-9]+\.tmp$ ]] || fail "SIGKILL left $litter"
    cmp "$litter" new.ppm 2>&1 | grep -v "EOF on" >&2 && fail "SIGKILL left $litter, which is no part of the picture"
    rm "$litter"
  done
  only folder out.ppm
  cp old.ppm folder/out.ppm
done
[ $killed = $kKills ] || fail "only $killed of $kTries were killed"
# A temporary file that a killed one left does not stop a later one.
convfilt blur --box 3 in.ppm folder/out.ppm
same new.ppm folder/out.ppm
