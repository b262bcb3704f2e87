# In a script an empty value stands for a variable that is not set. No option has a use for one, nor has an argument: each of
# each command is tried, as the program's own grammar lists them.
convfilt generate fish >grammar
echo '0 1 0' >mask.txt
: >kernel.cu; mkdir out
refused() {  # NAME WORD...: what must be called empty, and the command
  local name=$1 status=0; shift
  "$CONVFILT" "$@" >said 2>&1 </dev/null || status=$?
  [ $status = 2 ] || fail "exit code $status of: $(printf ' %q' "$@")"
  slurp words_said said
  [[ $words_said = "convfilt: "$name" is empty; give it a value"* ||
    $words_said = "convfilt: '--"*"=': --"*" takes no value; write it alone"* ]] ||
    fail "$words_said, of:$(printf ' %q' "$@")"
}
tried=0 names=0
for command in $(sed -n "s/^complete -c convfilt -n __fish_use_subcommand -a \([a-z]*\) .*/\1/p" grammar); do
  case $command in
    apply) arguments=(mask.txt in.png out.png) ;;
    compare) arguments=(in.png) ;;
    explain) arguments=(basic) ;;
    mask) arguments=(check mask.txt) ;;
    merge) arguments=(out) ;;
    try) arguments=(kernel.cu) ;;
    list) arguments=(filters) ;;
    generate) arguments=(man) ;;
    tune) arguments=() ;;
    *) arguments=(in.png out.png) ;;  # a filter
  esac
  while read -r line; do
    [[ $line =~ _from\ $command\'\ (-s\ .\ )?-l\ ([a-z-]+)(\ -[xr])? ]] || continue
    option=--${BASH_REMATCH[2]} takes_value=${BASH_REMATCH[3]}
    case $option in --help | --version) continue ;; esac
    tried=$((tried + 1))
    refused "$option" $command "${arguments[@]}" "$option="
    [ -z "$takes_value" ] || refused "$option" $command "${arguments[@]}" "$option" ''
  done <grammar
  for i in "${!arguments[@]}"; do
    names=$((names + 1))
    words=("${arguments[@]}"); words[i]=
    refused '[A-Z]*' $command "${words[@]}"
  done
done
[ $tried -gt 250 ] && [ $names -gt 15 ] || fail "only $tried options and $names names were tried"
refused OUT blur in.png '' other.png -o out
refused IN blur in.png other.png '' -o out

# Neither has a file of defaults a use for them; an empty variable counts as one that is not set.
mkdir -p config/convfilt
echo 'border = ""' >config/convfilt/config.toml
XDG_CONFIG_HOME=$PWD/config try blur samples/camera.png out.png
for variable in $(convfilt blur --help | grep -o 'CONVFILT_[A-Z_]*' | sort -u); do
  env "$variable=" "$CONVFILT" blur samples/camera.png out.png || fail "an empty $variable"
done
