# Options that clash: whenever A and B together are a wrong command line, and B alone is none, B on the line wins over A
# in the file of defaults and over A's variable: the bytes are those of B alone. A variable wins over the file likewise.
# The options, and the choices of most, are those that the grammar lists; the others need values below.
declare -A samples=(
  [--strategy]="cpu|direct" [--device]="cpu|emulator" [--border]="wrap|constant" [--border-value]="3|0"
  [edge--method]="laplacian|log|kirsch|canny" [edge--direction]="x|both|angle|hue"
  [edge--sigma]="0|2" [--gain]=2 [--low]=3 [--high]=90 [compare--depth]="f32|u8,u16" [mask--depth]="f32"
  [compare--weights]="8bit" [explain--arch]="sm_89" [--threads]=2 [--region]="1,1,4,4" [--format]="ppm" [--quality]=90
  [--compression]=3 [--max-pixels]=1000 [--page]=0 [--glob]='*.ppm' [--files-from]=list
  [--name]='{stem}_x{ext}' [--shard]=1/1 [--devices]=all [--max-memory]=1G [--tile]=8 [--outputs]=1 [--block]=64
  [--part]=5 [--nodata]=0 [--steps]=1 [--sigma]=1 [--box]=3 [--disk]=2 [--motion]=5@30 [--binomial]=3 [--amount]=2
  [--threshold]=3 [--halo-limit]=10 [--outer]=2 [--side]=3 [--radius]=2 [--length]=4 [--angle]=10 [--wavelength]=5
  [--phase]=90 [--aspect]=2 [--mask]=5x1 [try--mask]=box3 [--masks]=3
  [--strategies]=cpu,separable [--size]="9x9|8x8,9x9" [explain--size]=99x80 [mask--size]=99x80 [--channels]="3"
  [--repeats]=3 [--patience]=0.01 [--from]=all.json [--picture]=drawn.svg [--plot]= [--csv]= [compare--json]=
  [explain--json]= [--markdown]= [mask--output]=drawn.png [explain--table]="tile=8 mask=5" [explain--at]=100,60 [try--block]=16x16
  [--halo]=two-step [--idle]=rim [--mask-memory]=global [--cache]=none [--texture]=array [--gemm]=strassen [--domain]=spatial
  [--accumulate]=atomic [--pitch]=packed
  [--subsampling]=444 [--on-damage]=warn [--loader]=opencv [--codec]="cpu|gpu" [--if-exists]="skip|overwrite"
  [try--outputs]=16x16 [--mask-size]=3x3 [--shared]=0 [--tolerance]=0.001 [--relative-tolerance]=0.01)
generated=$(convfilt generate bash)
pgm grey.pgm <<<"10 20 30"
mkdir in
{ echo "P3 20 20 255"; for i in {1..400}; do echo "$((i % 256)) $((i * 7 % 256)) $((i * 37 % 256))"; done; } >in/a.ppm
printf 'in/a.ppm\0' >list
convfilt compare --size 8x8 --mask 3x3 --strategies cpu --repeats 3 --json=all.json >/dev/null

# Leaves what COMMAND makes in `result`: its exit code, and its words or a hash of each of its pictures; and in `errors` its
# messages. The thousands of runs of this case start as few other programs as they can.
shopt -s globstar nullglob
run() {  # WORD...
  local code=0
  [ ! -e out ] || rm -r out
  "$CONVFILT" "$@" >said 2>errors </dev/null || code=$?
  result=$code
  slurp errors errors
  [ $code = 0 ] || return 0
  case $1 in
    explain | mask) slurp words said ;;
    *) words=$(cksum out/**/*.p* </dev/null) ;;
  esac
  result+=" $words"
}

# Whether A and B together are wrong. In a folder, what only a picture shows has exit code 1.
wrong() {  # A B WORD...
  local good="${alone[$1]%% *}${alone[$2]%% *}" code=0; shift 2
  [ ! -e out ] || rm -r out
  "$CONVFILT" "$@" >/dev/null 2>&1 </dev/null || code=$?
  [ $code = 2 ] || [ "$code $good" = "1 00" ]
}

# What comes out is what the option alone gives.
wins() {  # OPTION WORD...
  local option=$1; shift
  run "$@"
  [ "$result" = "${alone[$option]}" ] ||
    fail "${*@Q} with '$(<c.toml)' in the file and $(env | grep CONVFILT_ | tr '\n' ' '): $result, not ${alone[$option]}: $errors"
}

declare -A alone=() met=()
gave_way=0
# Leaves in `alone` what an option gives by itself, and in `settable` whether a file may set it.
ask() {  # OPTION WORD...
  local a=$1; shift
  [ -z "${alone[$a]-}" ] || return 0
  met[$a]=1
  run "$@" "${a%=true}"; alone[$a]=$result
  [[ ${value_of[${a%%=*}]-} != files=yes ]] || [[ $a = --mask=* ]] || return 0
  echo "${a#--}" >c.toml
  run "$@" --config c.toml
  [[ $errors != *'belongs on the command line'* ]] || return 0
  settable[$a]=1
  # A line that cannot be used alone is passed over.
  [ "$result" != 2 ] || fail "$* with $a in the file: $errors"
}
pairs() {  # OWN WORD...: all pairs in which an option matches the regular expression OWN, for this command
  local own=$1 command=$2 option value choices a b i j; shift
  local -a all=()
  local -A clash=() settable=()
  alone=()
  read_options "$command" "$generated"
  for option in "${options[@]}"; do
    case $option in --help | --version | --config | --in-place | --out-folder | -?) continue ;; esac
    if [ -z "${value_of[$option]-}" ]; then all+=("$option=true"); continue; fi
    choices='?'
    if [[ ${value_of[$option]} = 'choices=('*')' ]]; then choices=${value_of[$option]#*\(}; choices=${choices%)}; fi
    choices=${samples[$command$option]-${samples[$option]-${choices// /|}}}
    [ "$choices" != "?" ] || fail "$option of $command: write a value for it into this test"
    while read -rd '|' value; do all+=("$option=$value"); done <<<"${choices:+$choices|}"
  done
  # A short run asks for what another command has, too, only where a pair needs it.
  for a in "${all[@]}"; do [ "$every" != 1 ] && [ -n "${met[$a]-}" ] || ask "$a" "$@"; done
  for ((i = 0; i < ${#all[@]}; ++i)); do
    for ((j = i * 7 % every; j < i; j += every)); do
      a=${all[i]} b=${all[j]}
      [[ $a =~ $own || $b =~ $own ]] || continue
      ask "$a" "$@"; ask "$b" "$@"
      if [ "${a%%=*}" = "${b%%=*}" ] || wrong "$a" "$b" "$@" "${a%=true}" "${b%=true}"; then clash[$a$b]=1 clash[$b$a]=1; fi
    done
  done
  for a in "${all[@]}"; do
    [ -n "${settable[$a]-}" ] || continue
    for ((i = 0; i < ${#all[@]}; ++i)); do
      b=${all[i]}
      [ -n "${clash[$a$b]-}" ] && [ "${alone[$b]}" != 2 ] || continue
      # What cannot be used alone clashes with nearly all.
      [ "${alone[$a]}" != 2 ] || [ $((i % 9)) = 0 ] || continue
      gave_way=$((gave_way + 1))
      echo "${a#--}" >c.toml
      wins "$b" "$@" --config c.toml "${b%=true}"
      case " ${options[*]} $b" in  # a short flag joined with another
        *" -r "*\ --quiet=true) wins "$b" "$@" --config c.toml -rq ;;
        *" -r "*\ --verbose=true) wins "$b" "$@" --config c.toml -vr ;;
      esac
      option=${a%%=*} option=${option#-} option=${option^^} option=CONVFILT${option//-/_}
      [[ $variables == *" $option "* ]] || continue
      export "$option=${a#*=}"
      wins "$b" "$@" "${b%=true}"
      if [[ -n ${settable[$b]-} && ${alone[$a]} != 2 ]]; then
        echo "${b#--}" >c.toml
        wins "$a" "$@" --config c.toml
      fi
      unset "$option"
    done
  done
}
variables=" $(convfilt blur --help | grep -o 'CONVFILT_[A-Z_]*' | sort -u | tr '\n' ' ') "
# A short run tries a fourth of the pairs with one option of each clash, tests/run.sh full all.
every=1 few=. of_blur='^--(sigma|box|disk|motion|binomial)=' of_sharpen='^--(threshold|halo-limit)=' of_explain=.
if [ "${CONVFILT_TEST_SIZE:-}" != full ]; then
  every=4 few='^--(border|luma|quiet|newer|device)=' of_blur='^--disk=' of_sharpen='^--halo-limit=' of_explain='^--(table|at)='
fi
pairs "$few" edge in out/
pairs "$of_blur" blur in out/
pairs "$of_sharpen" sharpen in out/
pairs "$of_explain" explain tiled-in
pairs . mask check gaussian5
pairs . mask show gaussian5
pairs . mask make gabor --sigma 3 --wavelength 6
pairs . try missing.cu
pairs . merge in
least=150; [ "$few" = . ] || least=15
[ $gave_way -gt $least ] || fail "only $gave_way defaults gave way"
