# --resume and merge go by the settings in a journal's first line. Two commands with equal settings must write equal bytes,
# so each option changes the settings, or stands here, among those that decide no byte. The options come from the program's
# own grammar, so that a new one fails here until it is in the settings or in this list.
decides_no_byte=' threads pitch in-place max-pixels out-folder recursive glob files-from null follow-links name if-exists
  newer resume shard dry-run fail-fast json no-progress max-memory verbose quiet help version config '
# These decide bytes only where GPUs decode JPEGs, or where a mask is transformed; see the end.
decides_some=' device devices codec '

mkdir in
{ printf 'P6\n16 12\n255\n'; seq -s , 1 400 | head -c 576; } >in/colours.ppm
convfilt apply identity in/colours.ppm in/photo.jpg -q
{ printf 'P7\nWIDTH 8\nHEIGHT 6\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'; seq -s '~' 1 99 | head -c 192; } >in/alpha.pam
{ printf 'P5\n9 7\n65535\n'; seq -s : 1 99 | head -c 126; } >in/deep.pgm
{ printf 'Pf\n4 4\n-1.0\n'; seq -s 7 10 90 | head -c 64; } >floats.pfm
printf 'offset: 3\n2 0 -1\n0 1 0\n0 0 3\n' >mask.txt
list=$(printf '%s\n' in/*)
echo "$list" >list.txt

runs=0 journals=0
mkdir seen
export CONVFILT_THREADS=1
# Runs a command into a fresh folder; `settings` becomes what its journal says, empty where the command has no journal. The
# results are compared with those of the first command that had these settings.
run() {  # WORD...
  rm -rf out; settings=
  runs=$((runs + 1))
  convfilt "$@" in out -q </dev/null >said 2>&1 || true
  [ -s out/.convfilt-journal ] || return 0
  journals=$((journals + 1))
  read -r _ _ _ settings _ <out/.convfilt-journal
  if [ ! -d "seen/$settings" ]; then
    mv out "seen/$settings"
    echo "$*" >"seen/$settings/.command"
    return 0
  fi
  # A result that one of the two has and the other has not is no difference.
  ! diff -rqx '.*' out "seen/$settings" >differences || return 0
  ! grep '^Files ' differences >&2 || fail "'$*' and '$(cat "seen/$settings/.command")' have the same settings, and not the same results"
}

declare -A changes without taken  # values that an option has taken, a line each
commands=('apply mask.txt' 'edge' 'blur' 'sharpen')
convfilt generate fish >grammar
# In a short run, strategies that together have every setting.
mapfile -t by_strategy < <(strategies | if [ "${CONVFILT_TEST_SIZE:-}" = full ]; then cat; else
  grep -xE 'tiled-in|tiled-out|basic|texture|im2col|overlap-add|in-parts'; fi | sed 's|^|--strategy=|')
# An option's values: those that the grammar lists, or these.
any_values=(16 3 2 1 64 0.5 90 1,1,3,3 png 1G '{stem}_a{ext}' '*.ppm' list.txt 1/1 all /dev/null)
any_list=$(printf '%s\n' "${any_values[@]}")
for command in "${commands[@]}"; do
  run $command
  plain=$settings
  [ -n "$plain" ] || fail "'$command' leaves no journal: $(cat said)"
  found=0
  while IFS=$'\t' read -r name takes_value choices; do
    found=$((found + 1))
    values=('')
    if [ "$takes_value" = 1 ]; then
      if [ -n "$choices" ]; then read -ra values <<<"$choices"
      elif [ -z "${taken[$name]:-}" ]; then values=("${any_values[@]}")
      else mapfile -t values <<<"${taken[$name]}$any_list"; fi
    fi
    [[ " $decides_no_byte $decides_some " == *[[:space:]]"$name"[[:space:]]* ]] && is_free=true || is_free=false
    # Of an option that changes the settings of another command, one value is enough.
    is_known=${changes[$name]:-false}
    changes[$name]=${changes[$name]:-$is_free}
    # Some options need another beside them; settings of strategies are tried with one command alone.
    contexts=('' '--border constant' '--method log' '--method canny')
    if $is_free; then contexts=('' '--files-from list.txt -o out'); fi
    case $command in apply*) $is_free || contexts+=("${by_strategy[@]}") ;; esac
    for context in "${contexts[@]}"; do
      accepted=0
      for value in "${values[@]}"; do
        run $command $context "--$name${value:+=$value}"
        if [ -z "$settings" ]; then
          # A refusal that does not name the value holds for every value.
          [[ $(<said) == *"$value"* ]] || break
          continue
        fi
        accepted=$((accepted + 1))
        [[ $'\n'${taken[$name]:-} == *$'\n'"$value"$'\n'* ]] || taken[$name]+=$value$'\n'
        with=$settings
        if [ -z "${without[$command $context]:-}" ]; then run $command $context; without[$command $context]=$settings; fi
        if [ "${without[$command $context]}" != "$with" ]; then
          changes[$name]=true
          ! $is_free || fail "$command $context --$name=$value changes the settings; take it off the list of this test"
        fi
        ! $is_known && { [ -n "$choices" ] || [ $accepted -lt 2 ]; } || break
      done
      [ $accepted = 0 ] || break
    done
  done < <(sed -n "s/^complete -c convfilt -n '__fish_seen_subcommand_from ${command%% *}' //p" grammar |
    sed -nE "s/^(-s . )?-l ([a-z-]+)( -[xr])?( -F)?( -a '([^']*)')?( -d .*)?$/\2\t\3\t\6/p" | sed -E 's/\t -[xr]\t/\t1\t/')
  [ $found -gt 40 ] || fail "$command has $found options"
done
for name in "${!changes[@]}"; do
  ${changes[$name]} || fail "--$name is not in the settings; if it decides no byte, add it to the list of this test"
done

# Masks by other names, and what is done with them.
for filter in sobel_x sobel_y prewitt_x scharr_y laplacian3 mean3 identity; do
  for option in '' --flip --normalize '--output abs'; do run apply $filter $option; done
done
run blur --box 3
for method in sobel prewitt scharr; do
  for direction in x y both; do run edge --method $method --direction $direction; done
  for how in '--sigma 0' '--gain 2' --color --thin '--threshold 9'; do run edge --method $method $how; done
done
run edge --method laplacian
run edge --method laplacian --flip

# Results of transforms may differ by a rounding from device to device, so that devices are not mixed.
{ printf 'P5\n300 300\n255\n'; { seq -s , 1 30000 || true; } | head -c 90000; } >in/large.pgm
for device in cpu emulator; do
  for strategy in auto coarse; do run blur --sigma 33 --strategy $strategy --device $device --glob large.pgm; done
done
run blur --sigma 1 --device emulator --glob large.pgm
[ $runs -gt 400 ] && [ $journals -gt 300 ] || fail "only $runs commands were run, and $journals left journals"

# The commands of whom this was first seen.
rm -rf in; mkdir in
cp samples/camera.png in/a.png
for pair in sobel_x:'edge --direction x' sobel_y:'edge --direction y' prewitt_x:'edge --method prewitt --direction x' \
  laplacian3:'edge --method laplacian'; do
  rm -rf out
  convfilt apply "${pair%%:*}" in out -q
  try ${pair#*:} in out --resume -q
done
cp in/a.png in/b.png
rm -rf out
convfilt apply sobel_x in out --shard 1/2 -q
convfilt edge in out --direction x --shard 2/2 -q
try merge out
