# A bad value is told with the place it stands at: in the file with its line, in a variable with its name, and otherwise
# with the words that the command line gets. All options of the grammar, and numbers that fit no type.
declare -A needs=(
  [--tile]="--strategy=tiled-in" [--outputs]="--strategy=tiled-out" [--halo]="--strategy=tiled-out"
  [--idle]="--strategy=tiled-in" [--mask-memory]="--strategy=basic" [--cache]="--strategy=basic"
  [--texture]="--strategy=texture" [--gemm]="--strategy=im2col" [--domain]="--strategy=in-parts"
  [--accumulate]="--strategy=in-parts" [--block]="--strategy=in-parts" [--part]="--strategy=in-parts"
  [--steps]="--strategy=overlap-add" [--border-value]="--border=constant" [--weights]="--masks=3"
  [try--block]= [try--outputs]= [explain--at]="--picture=drawn.svg"
  [edge--low]="--method=canny" [edge--high]="--method=canny" [edge--direction]="--method=sobel")
bad=(@ nan inf -1 0 1e999 1.5 99999999999999999999 99999999999x1 99999999999 1,,2 3,@ '')
generated=$(convfilt generate bash)
mkdir in
pgm in/a.pgm <<<"10 20 30"
checked=0 numbers=0 turn=0 wrong=0 step=1 least=500
# A short run takes half of the values, in turn, and of these every pair of a command, an option and a value; tests/run.sh full
# takes every combination.
[ "${CONVFILT_TEST_SIZE:-}" = full ] || step=2 least=250
declare -A met=()
is_new() {  # COMMAND OPTION VALUE
  local pair new=false
  for pair in "$1 $2" "$1 =$3" "$2=$3"; do [ -n "${met[$pair]-}" ] || new=true; met[$pair]=1; done
  $new || [ "${CONVFILT_TEST_SIZE:-}" = full ]
}
told_with() {  # PLACE WORD...: the program says what it said before, and the place
  local place=$1 code=0; shift
  "$CONVFILT" "$@" >/dev/null 2>errors </dev/null || code=$?
  slurp said errors
  [ "$code:$said" = "2:convfilt: $place: ${message#convfilt: }" ] ||
    fail "$place: ${*@Q}: exit $code, $said, not $place and $message"
  checked=$((checked + 1))
}
bad_values() {  # OWN COMMAND WORD...: of the options that match OWN
  local own=$1 command=$2 option value code message variable word need k
  local -a words base=("${@:3}")
  shift
  read_options "$command" "$generated"
  for option in "${options[@]}"; do
    [[ $option =~ ^--($own)$ && $option != --config && -n ${value_of[$option]-} ]] || continue
    # No default names a file to be written.
    [ "${value_of[$option]}" != files=yes ] || continue
    echo "${option#--} = '@'" >c.toml
    "$CONVFILT" "$@" --config c.toml >/dev/null 2>errors </dev/null || true
    slurp message errors
    [[ $message != *'belongs on the command line'* ]] || continue
    need=${needs[$command$option]-${needs[$option]-}}
    case $command$need in
      explain--strategy=*) need=${need#*=} ;;
      explain*) need="tiled-in $need" ;;
    esac
    # shellcheck disable=SC2206  # words
    words=($need)
    for word in "${base[@]}"; do [[ $word = "$option="* ]] || words+=("$word"); done
    turn=$((turn + 5))  # so that options begin with different values
    for ((k = turn; k < turn + ${#bad[@]}; k += step)); do
      value=${bad[k % ${#bad[@]}]}
      is_new "$command" "$option" "$value" || continue
      code=0 given=("$option" "$value")
      [ "$option" != --strip ] || given=("$option=$value")  # it may stand alone
      "$CONVFILT" "$command" "${words[@]}" "${given[@]}" >/dev/null 2>errors </dev/null || code=$?
      slurp message errors
      [ $code = 2 ] || continue
      wrong=$((wrong + 1))
      if [[ $value == 99999999999* ]]; then
        # A border of 1e20 fits its type.
        [[ $message == *"'$value'"* || $message == *[=\ ]"$value:"* || $option = --border-value ]] ||
          fail "$option $value is not shown as written: $message"
        [[ ! $message =~ 'out of range'|impossible|'not a number' || $message =~ (from|above|of)\ -?[0-9]|channels ||
          $option = --border-value ]] || fail "$option $value: no bounds: $message"
        numbers=$((numbers + 1))
      fi
      # A short run looks at the places of every third bad value.
      every 3 || continue
      echo "${option#--} = '$value'" >c.toml
      told_with c.toml:1 "$command" "${words[@]}" --config c.toml
      variable=${option#-} variable=${variable^^} variable=CONVFILT${variable//-/_}
      if [[ -n $value && $variables == *" $variable "* ]]; then
        export "$variable=$value"
        told_with "$variable" "$command" "${words[@]}"
        unset "$variable"
      fi
    done
  done
}
variables=" $(convfilt blur --help | grep -o 'CONVFILT_[A-Z_]*' | sort -u | tr '\n' ' ') "
bad_values '.*' blur in/ out/ -q
bad_values 'amount|sigma|threshold|halo-limit' sharpen in/ out/ -q
bad_values 'method|direction|sigma|gain|threshold|low|high' edge in/ out/ -q
bad_values '.*' compare --size=3x3 --mask=3x3 --repeats=3 --strategies=cpu
bad_values 'tolerance|on-damage|max-pixels|page|loader' check in/a.pgm in/a.pgm --mask=identity
bad_values '.*' explain
bad_values 'size|depth|channels|device' mask check gaussian5
bad_values 'sigma|wavelength|angle|phase|aspect' mask make gabor --sigma=3 --wavelength=6
bad_values 'outer' mask make dog --sigma=1 --outer=2
bad_values 'side' mask make binomial
bad_values 'radius' mask make disk
bad_values 'length' mask make motion
bad_values '.*' try missing.cu
bad_values '.*' tune
[ $wrong -gt $least ] && [ $checked -gt $((least / 2)) ] && [ $numbers -gt $((least / 5)) ] ||
  fail "only $wrong bad values, $checked places and $numbers numbers"
