#!/usr/bin/env bash
# Crash points: at each system call of the write path the program is killed, or the call fails, by strace's fault
# injection. Afterwards the output must be byte for byte the old file or the new one (or absent where there was none), exit
# code 0 only where it is the new one, the input and the file's mode as they were, an error one line that names the file and
# what failed, and no temporary file left, except by SIGKILL.
#
#   CONVFILT=… tests/pictures/crash_points.sh [STRIDE]
#
# All cases, some minutes; with a STRIDE every so manieth, but of the calls that make, sync and name the file all of one way.
# Short writes are those of tests/cli/safety/file_size_limit.sh and full_disk.sh.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
stride=${1:-1}
CONVFILT=$(realpath "${CONVFILT:?names the program}")
export XDG_CONFIG_HOME=/nonexistent LC_ALL=C
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0   # which the leak sanitizer cannot do under strace
skip() { echo "skipped: $*"; exit 77; }
command -v strace >/dev/null || skip "strace is not installed"
can() { { strace -f -o /dev/null -e trace=chdir "$@" sh -c 'cd /'; } >/dev/null 2>&1 && status=0 || status=$?; }
can; [ $status = 0 ] || skip "strace cannot trace here"
can -e inject=chdir:signal=KILL; [ $status = 137 ] || skip "strace cannot inject a signal here"
can -e inject=chdir:error=EIO; [ $status != 0 ] || skip "strace cannot inject an error here"
# With a filter in the kernel strace is twice as fast, but then it injects no signals.
filter=(--seccomp-bpf)
can "${filter[@]}" -e inject=chdir:error=EIO; [ $status != 0 ] || filter=()

work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "crash_points: $*" >&2; exit 1; }
readonly signals=(KILL TERM INT PIPE) errors=(ENOSPC EIO EACCES EINTR)
declare -A text=([ENOSPC]="No space left on device" [EIO]="Input/output error" [EACCES]="Permission denied" [EINTR]="Interrupted system call")
# Calls that ask or change something of a file. All others get signals only, and none those that take memory or give it
# back, whose number changes from run to run.
readonly fallible=' newfstatat faccessat2 readlink openat pread64 pwrite64 fchown fchmod fdatasync unlink linkat rename close '
# Calls of which a run with a stride leaves out none, in one way.
readonly decisive=' openat fchmod fdatasync unlink linkat rename '
# Faults after which the program goes on: it repeats these calls.
readonly repeated=' pread64 pwrite64 '
# Calls whose error nothing can make good.
readonly needed=' faccessat2 pread64 pwrite64 fchmod fdatasync rename '
declare -A cases=() olds=() news=() absents=() losses=() litter=()
calls=() total=0 seen=0 lost=0

printf 'P6\n8 6\n255\n%s' "$(seq -s ' ' 1 99 | head -c 144)" >plain.ppm
mkdir folder

# A fresh folder, where the program replaces an old file (over), makes a new one, or replaces its input (in_place).
prepare() {
  rm -rf folder; mkdir folder
  cp "in.$format" "folder/in.$format"
  if [ $way = over ]; then cp old "$output"; chmod 640 "$output"; fi
  if [ $way = in_place ]; then chmod 640 "$output"; fi
}
# Runs the program under strace with some of its options, on one thread, so that it always makes the same calls.
traced() { strace -f "$@" "$CONVFILT" blur "folder/in.$format" "$output" --threads 1 --device cpu "${in_place[@]}"; }

wrong() { echo "$format, $way, $named: $kind at $call $when: $*: $(head -c 300 said)" >&2; bad=true; }
check() {  # EXIT_CODE
  local state bad=false left
  if [ ! -e "$output" ]; then state=absent
  elif cmp -s "$output" new; then state=new
  elif cmp -s "$output" old; then state=old
  else state=LOST; fi
  case $state in
    absent) [ $way = new ] || { state=LOST; wrong "the old file is gone"; } ;;
    old) [ $way != new ] || { state=LOST; wrong "there is a file of other bytes"; } ;;
    LOST) wrong "neither the old file nor the new one" ;;
  esac
  [ $way = new ] || [ "$(stat -c %a "$output")" = 640 ] || wrong "another mode"
  [ $way = in_place ] || cmp -s "in.$format" "folder/in.$format" || wrong "another input"
  left=$(find folder -mindepth 1 ! -path "$output" ! -path "folder/in.$format" -printf '%f\n')
  if [ -n "$left" ]; then
    if [ $kind != KILL ]; then wrong "it left $left"
    elif [[ $left =~ ^\.convfilt-[0-9]+-[0-9]+\.tmp$ ]]; then litter[$named]=$((${litter[$named]:-0} + 1))
    else wrong "it left $left"; fi
  fi
  case $1,$kind in
    0,KILL | 0,TERM | 0,INT) wrong "it lived on" ;;
    0,*) [ $state = new ] || wrong "exit code 0 without a new file"
      [[ $kind != E* || $needed != *" $call "* || ($kind = EINTR && $repeated = *" $call "*) ]] || wrong "it kept the error to itself"
      [ ! -s said ] || wrong "a message without an error" ;;
    1,E*) [ $state != new ] || wrong "exit code 1 with the new file in place"
      [ "$(wc -l <said)" = 1 ] && grep -qE "^convfilt: (cannot (read|write) 'folder/(in|out)\.$format': .*|the journal 'folder/\.convfilt-journal' cannot be read: )${text[$kind]}" said || wrong "not its message"
      [[ $kind != EINTR || $repeated != *" $call "* ]] || wrong "it gave up" ;;
    137,KILL | 143,TERM | 130,INT | 141,PIPE) ;;
    *) wrong "exit code $1" ;;
  esac
  ! $bad || { lost=$((lost + 1)); state=LOST; }
  local key="$kind $call"
  cases[$key]=$((${cases[$key]:-0} + 1))
  case $state in
    old) olds[$key]=$((${olds[$key]:-0} + 1)) ;;
    new) news[$key]=$((${news[$key]:-0} + 1)) ;;
    absent) absents[$key]=$((${absents[$key]:-0} + 1)) ;;
    LOST) losses[$key]=$((${losses[$key]:-0} + 1)) ;;
  esac
  total=$((total + 1))
}

one_way() {  # FORMAT over|new|in_place [named: on a file system without nameless files]
  format=$1 way=$2 named=${3:-nameless} output=folder/out.$1 in_place=()
  [ $way != in_place ] || { output=folder/in.$format; in_place=(--in-place); }
  "$CONVFILT" apply identity plain.ppm "in.$format" --device cpu
  cp "in.$format" old
  [ $way = in_place ] || echo 'any old bytes' >>old
  "$CONVFILT" blur "in.$format" "new.$format" --device cpu
  cp "new.$format" new

  # The write path begins where the program first names the output. A nameless file is refused as NFS does it.
  local with=()
  prepare
  if [ "$named" = named ]; then
    traced -o trace 2>/dev/null
    with=(-e "inject=openat:error=EOPNOTSUPP:when=$(awk '$2 ~ /^openat\(/ { ++n; if (/O_TMPFILE/) { print n; exit } }' trace)")
    prepare
  fi
  traced -o trace "${with[@]}" 2>/dev/null || fail "$format, $way: the program fails without a fault"
  cmp -s "$output" new || fail "$format, $way: another picture without a fault"
  [ "$(cut -d' ' -f1 trace | sort -u | wc -l)" = 1 ] || fail "$format, $way: more than one thread"
  mapfile -t points < <(awk -v output="\"$output\"" '
    match($2, /^[a-z0-9_]+\(/) {
      call = substr($2, 1, RLENGTH - 1)
      ++count[call]
      if (index($0, output) && call != "execve") inside = 1
      if (inside && call !~ /^(exit_group|brk|mmap|munmap|madvise|mprotect)$/) print call, count[call]
    }' trace)
  [ ${#points[@]} -gt 20 ] || fail "$format, $way: only ${#points[@]} system calls"

  local point code kinds
  local -a fault
  for point in "${points[@]}"; do
    read -r call when <<<"$point"
    [ "$named $call" != "named openat" ] || continue   # strace injects one fault a call
    [[ " ${calls[*]} " == *" $call "* ]] || calls+=("$call")
    kinds=("${signals[@]}")
    [[ $fallible != *" $call "* ]] || kinds+=("${errors[@]}")
    for kind in "${kinds[@]}"; do
      seen=$((seen + 1))
      if [ $((seen % stride)) != 0 ]; then
        [ "$format $way $named" = "png over nameless" ] && [[ $decisive == *" $call "* && $kind != EACCES && $kind != PIPE ]] || continue
      fi
      case $kind in E*) fault=("${filter[@]}" -e "inject=$call:error=$kind:when=$when") ;; *) fault=(-e "inject=$call:signal=$kind:when=$when") ;; esac
      prepare
      code=0
      { traced -o /dev/null "${with[@]}" -e "trace=$call,openat" "${fault[@]}" 2>said; } 2>/dev/null || code=$?
      check $code
    done
  done
}

for format in png jpg tif webp ppm; do
  for way in over new in_place; do one_way $format $way; done
done
for way in over new; do one_way png $way named; done

# What SIGKILL leaves is not in the way of a later run, which leaves it alone.
format=png way=over output=folder/out.png in_place=()
"$CONVFILT" apply identity plain.ppm in.png --device cpu
cp in.png old
prepare
"$CONVFILT" blur in.png new --format png --device cpu
code=0
{ traced -o /dev/null -e trace=rename -e inject=rename:signal=KILL; } 2>/dev/null || code=$?
[ $code = 137 ] && cmp -s old folder/out.png || fail "killed at its rename it has exit code $code, or another file"
[ "$(find folder -name '.convfilt-*.tmp' | wc -l)" = 1 ] || fail "killed at its rename it leaves $(find folder)"
cmp -s new "$(find folder -name '.convfilt-*.tmp')" || fail "what it leaves is not the whole picture"
"$CONVFILT" blur in.png folder/out.png --device cpu
cmp -s new folder/out.png && [ "$(find folder -name '.convfilt-*.tmp' | wc -l)" = 1 ] || fail "a later run meets the file that was left"

# Some file systems (CIFS, exFAT, some mounts) refuse every change of a mode. A file that would not have another one is
# replaced there; one that would keeps its old bytes, since others could read the new ones. A missing sync is no failure.
for refusal in fchmod:EPERM fchmod:EOPNOTSUPP fdatasync:EINVAL fdatasync:EOPNOTSUPP fdatasync:ENOSYS fchown:EPERM; do
  fault=(-o /dev/null -e "trace=${refusal%:*}" -e "inject=${refusal%:*}:error=${refusal#*:}")
  prepare
  chmod "$(printf %o $((0666 & ~0$(umask))))" "$output"
  [ "${refusal%:*}:$(id -u)" != fchown:0 ] || chown 65534 "$output"
  traced "${fault[@]}" 2>said || fail "where $refusal, it fails: $(cat said)"
  cmp -s new "$output" || fail "where $refusal, there is another picture"
done
prepare
code=0
traced -o /dev/null -e trace=fchmod -e inject=fchmod:error=EPERM 2>said || code=$?
[ $code = 1 ] && cmp -s old "$output" || fail "where its mode cannot be kept, it has exit code $code, or the file has changed"

printf '| kind | call | cases | old | new | absent | LOST |\n|---|---|---:|---:|---:|---:|---:|\n'
for kind in "${signals[@]}" "${errors[@]}"; do
  sums=(0 0 0 0 0)
  for call in "${calls[@]}"; do
    key="$kind $call"
    [ -n "${cases[$key]:-}" ] || continue
    row=("${cases[$key]}" "${olds[$key]:-0}" "${news[$key]:-0}" "${absents[$key]:-0}" "${losses[$key]:-0}")
    for i in 0 1 2 3 4; do sums[i]=$((sums[i] + row[i])); done
    printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$kind" "$call" "${row[@]}"
  done
  printf '| %s | all | %s | %s | %s | %s | %s |\n' "$kind" "${sums[@]}"
done
echo "SIGKILL left a file .convfilt-PID-N.tmp in ${litter[nameless]:-0} cases, and in ${litter[named]:-0} without nameless files"
echo "cases $total, of $seen; LOST $lost"
[ $lost = 0 ]
