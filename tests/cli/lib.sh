# What the cases share. run.sh sources it before each case, which runs in a fresh folder with links to samples/ and
# filters/, under bash -euo pipefail: any command that fails makes the case fail.

convfilt() { "$CONVFILT" "$@"; }

# Runs convfilt as a line of a transcript on standard error: the command, what it says, and its exit code if not 0.
# Succeeds always: the transcript is what is compared.
try() {
  local code=0
  printf '$ convfilt%s\n' "$([ $# = 0 ] || printf ' %q' "$@")" >&2
  convfilt "$@" || code=$?
  [ $code = 0 ] || echo "exit $code" >&2
}

# Ends the case as skipped.
skip() {
  echo "$*" >&2
  exit 77
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Succeeds every so manieth time that it is asked, in a full run (CONVFILT_TEST_SIZE=full) always.
every() {  # NUMBER: with no divisor in common with the loops around it
  times_asked=$((${times_asked:-0} + 1))
  [ "${CONVFILT_TEST_SIZE:-}" = full ] || [ $((times_asked % $1)) = 0 ]
}

has_cuda() { convfilt list devices | grep '^ *cuda:0 ' >/dev/null; }
need_cuda() { has_cuda || skip "$(convfilt list devices | sed -n 's/^ *cuda *none: //p')"; }
need_no_cuda() { ! has_cuda || skip "this machine has a CUDA device"; }
need_tool() { command -v "$1" >/dev/null || skip "$1 is not installed"; }
# Skips where there is no Python with these modules.
need_python() {  # MODULE...
  python3 -c "import $(printf "%s, " "$@")sys" 2>/dev/null || skip "there is no Python with $*"
}
need_root() { [ "$(id -u)" = 0 ] || skip "only root can do this"; }
need_not_root() { [ "$(id -u)" != 0 ] || command -v setpriv >/dev/null || skip "needs setpriv, to stop being root"; }

# Runs a command, and writes the peak of its memory to FILE, in MiB: getrusage(2), which perl-base can call.
peak_of() {  # FILE COMMAND...
  perl -e '
    my ($number, $file, @command) = @ARGV;
    my $status = system { $command[0] } @command;
    my $usage = "\0" x 144;
    syscall($number, -1, $usage) == 0 or die;
    open my $out, ">", $file or die;
    printf $out "%d\n", (unpack "q*", $usage)[4] / 1024;
    exit($status & 127 ? 128 + ($status & 127) : $status >> 8);' "$(getrusage_number)" "$@"
}
getrusage_number() {
  case $(uname -m) in
    x86_64) echo 98 ;;
    aarch64 | riscv64) echo 165 ;;
  esac
}
need_peak() {
  [ -n "$(getrusage_number)" ] || skip "the number of getrusage(2) is not known for $(uname -m)"
  ! grep -q __asan_init "$CONVFILT" || skip "the program was built with AddressSanitizer, which needs more memory"
}

# Runs a command as a user whom permissions bind. need_anyone comes before it.
as_anyone() {
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi
}

# Skips where that user cannot run the program, or not read the profiles, the pictures or one of the files: in /root, say.
need_anyone() {  # FILE...
  local file
  as_anyone "$CONVFILT" --version >/dev/null 2>&1 || skip "another user cannot run the program"
  for file in ${CONVFILT_PROFILES:+"$CONVFILT_PROFILES"/.} samples/camera.png "$@"; do
    as_anyone test -r "$file" || skip "another user cannot read $file"
  done
}

# Names of all strategies, or of those of some families.
strategies() {
  convfilt list strategies | grep '^  [^ ]' | while read -r name family _; do
    case " ${*:-$family} " in *" $family "*) echo "$name" ;; esac
  done
}

# Names of the strategies that take a mask of any kind; coarse takes only smooth ones.
strategies_for_any() { strategies | grep -vx coarse; }

# Reads a file into a variable, as NAME=$(<FILE) does, but without a process.
slurp() {  # NAME FILE
  IFS= read -rd '' "$1" <"$2" || true
  while [[ ${!1} = *$'\n' ]]; do printf -v "$1" %s "${!1%$'\n'}"; done
}

# Reads what completes a command in bash, as `convfilt generate bash` prints it: `options` are its options, and value_of[OPTION]
# is what completes the value of one that takes a value.
read_options() {  # COMMAND GENERATED
  local line name
  options=()
  declare -gA value_of=()
  while IFS= read -r line; do
    if [[ $line = '      options=('*')' ]]; then
      line=${line#*\(}
      read -ra options <<<"${line%)}"
    elif [[ $line = '        -'*') '*' ;;' ]]; then
      name=${line%%)*} line=${line#*) }
      for name in ${name//|/ }; do value_of[$name]=${line% ;;}; done
    fi
  done < <(sed -n "/^    $1)\$/,/^      esac/p" <<<"$2")
}

# Writes the grey picture FILE from rows of numbers on standard input, 8-bit unless the largest value is said.
pgm() {  # FILE [LARGEST]
  local -a rows
  mapfile -t rows
  local -a first
  read -ra first <<<"${rows[0]}"
  { echo "P2 ${#first[@]} ${#rows[@]} ${2:-255}"; printf '%s\n' "${rows[@]}"; } >"$1"
}

# Fails unless two files are the same in every byte; the message names both.
same() { cmp "$1" "$2" >&2 || fail "$1 and $2 differ"; }
differ() { ! cmp -s "$1" "$2" || fail "$1 and $2 are the same"; }

# Prints the header of a binary PGM, PPM, PAM or PFM, and its samples as numbers, a row of the picture a line.
show() {  # FILE
  local file=$1 header width channels=1 largest magic skip
  magic=$(head -c 2 "$file")
  case $magic in
    P5 | P6) header=$(head -n 3 "$file" | tr '\n' ' '); skip=4
      read -r _ width _ largest <<<"$header"
      [ "$magic" = P5 ] || channels=3 ;;
    P7) header=$(sed '/^ENDHDR$/q' "$file" | tr '\n' ' '); skip=$((1 + $(sed '/^ENDHDR$/q' "$file" | wc -l)))
      read -r _ _ width _ _ _ channels _ largest _ <<<"$header" ;;
    Pf | PF) header=$(head -n 3 "$file" | tr '\n' ' '); skip=4
      read -r _ width _ largest <<<"$header"
      [ "$magic" = Pf ] || channels=3 ;;
    *) fail "$file is no PGM, PPM, PAM or PFM" ;;
  esac
  echo "${header% }"
  local type=u1 bytes=1 order=little
  case $magic-$largest in
    P[fF]-*) type=fF bytes=4 ;;
    *-255) ;;
    *) type=u2 bytes=2 order=big ;;
  esac
  tail -n +$skip "$file" | od -An -v -t$type --endian=$order -w$((width * channels * bytes)) |
    sed 's/  */ /g; s/^ //'
}

# Prints WIDTHxHEIGHTxCHANNELS DEPTH, from the line that -v writes about reading.
shape() {  # FILE
  convfilt apply identity "$1" /dev/null --format tif -v 2>&1 | sed -n "s/^convfilt: read .*: \([0-9x]* [uf][0-9]*\), .*/\1/p"
}

# Replaces the bytes of a file from FROM on by standard input.
patch() {  # FILE FROM
  dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Fails unless the folder holds these names and nothing else, not even hidden.
only() {  # FOLDER NAME...
  local folder=$1 names; shift
  names=$(cd "$folder" && shopt -s dotglob nullglob && printf '%s\n' * | { grep -vxE 'samples|filters' || true; } | sort)
  [ "$names" = "$(printf '%s\n' "$@" | sort)" ] || fail "in $folder there is: $names"
}
