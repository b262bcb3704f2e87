#!/usr/bin/env bash
# The manual page, and completion as the shells that are here do it: bash always, fish, zsh and man where they are installed.
#
# CONVFILT names the program.
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
set -euo pipefail
CONVFILT=$(realpath "${CONVFILT:?names the program}")
CONVFILT_FILTERS=$(cd "$(dirname "$0")/.." && pwd)/filters
export CONVFILT_FILTERS
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "tests/completion.sh: $*" >&2; exit 1; }
PATH=$(dirname "$CONVFILT"):$PATH
export PATH LC_ALL=C.UTF-8
for what in man bash zsh fish; do "$CONVFILT" generate $what >"made.$what" || fail "generate $what fails"; done
touch picture.png

# Each line: what is typed, then a tab; what must then be on offer, and what must not.
cases() {
  cat <<'CASES'
convfilt bl|blur|list
convfilt |compare generate|--sigma
convfilt blur --stra|--strategy|--box
convfilt blur --strategy til|tiled-in tiled-out|cached
convfilt blur --device cu|cuda|cuda:N auto
convfilt blur --border=re|reflect reflect101 replicate|wrap
convfilt edge --method s|sobel scharr|prewitt
convfilt apply embo|emboss3|gaussian5
convfilt compare --mask embo|emboss3|gaussian5
convfilt mask |check show|emboss3
convfilt mask check embo|emboss3|gaussian5
convfilt mask show pict|picture.png|made.man
convfilt mask check --de|--depth --device|--border
convfilt list |strategies filters masks devices|blur
convfilt explain tiled|tiled-in tiled-out|direct
convfilt blur pict|picture.png|made.man
convfilt blur -v pict|picture.png|made.man
convfilt compare --from pict|picture.png|made.man
convfilt blur --strategy pict||picture.png
convfilt generate |man bash zsh fish|blur
CASES
}
complete_bash() {  # TYPED: what bash would offer. Readline takes = for a word.
  bash --norc -c '
    compopt() { :; }  # which only works while a person types
    source made.bash
    typed=${1//=/ = }
    read -ra COMP_WORDS <<<"$typed"
    [[ $1 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _convfilt
    printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}
complete_fish() {
  XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work fish --no-config -c 'source made.fish; complete -C "$argv[1]"' "$1" | cut -f1 | sed 's/^--[a-z]*=//'
}
checked=0
check() {  # SHELL
  local typed offered refused word
  while IFS='|' read -r typed offered refused; do
    "complete_$1" "$typed" >offers || fail "$1 fails at '$typed'"
    for word in $offered; do grep -qx -- "$word" offers || fail "$1, after '$typed', does not offer $word but $(xargs <offers | cut -c1-300)"; done
    for word in $refused; do ! grep -qx -- "$word" offers || fail "$1, after '$typed', offers $word"; done
    checked=$((checked + 1))
  done < <(cases)
}
check bash
# Names of the user's own filters are offered as they are, however long, and whatever a shell would make of them.
mkdir own
long=$(printf 'long%.0s' {1..40})
for name in 'odd$(touch ran)' 'odd`touch ran`' 'odd name' 'odd*' "odd$long"; do cp "$CONVFILT_FILTERS/box3.txt" "own/$name.txt"; done
odd() {  # SHELL
  CONVFILT_FILTERS=$work/own COLUMNS=80 "complete_$1" 'convfilt apply odd' >offers || fail "$1 fails at odd names"
  for name in 'odd$(touch ran)' 'odd`touch ran`' 'odd name' 'odd*' "odd$long"; do
    grep -qxF -- "$name" offers || fail "$1 does not offer the filter '$name' but $(xargs -d '\n' <offers)"
  done
  [ ! -e ran ] || fail "$1 runs what a filter's name says"
}
odd bash
if command -v fish >/dev/null; then odd fish; fi
if command -v fish >/dev/null; then check fish; else echo "skipped: completion in fish, which is not installed"; fi
# What zsh would complete an option with.
specs_zsh() {  # COMMAND
  zsh -f -c '
    compdef() { : }
    _arguments() { [[ $1 != -s ]] || shift; print -rl -- "$@" }
    source made.zsh
    words=(convfilt "$1" "") CURRENT=3
    _convfilt' zsh "$1"
}
# The words that zsh hands over where Tab is typed behind a line, on a terminal that it makes for itself, and errors.
complete_zsh() {  # TYPED
  TERM=dumb timeout 30 zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f
    zpty -w shell "PS1= PS2=; autoload -U compinit; compinit -u -D; source ./made.zsh; convfilt() { echo \"<\$*>\" }; echo rea\"\"dy"
    zpty -r -m shell line "*ready*"
    zpty -w shell "$1"$'\''\t'\''
    zpty -r -m shell said "*<blur*>*"
    print -r -- "$said"' zsh "$1" | tr -d '\r'
}
zsh=false
if command -v zsh >/dev/null; then zsh=true; zsh -n made.zsh || fail "zsh does not understand its script"
else echo "skipped: completion in zsh, which is not installed"; fi
if $zsh; then
  complete_zsh 'convfilt blur --device cu' >said
  grep -q '<blur --device cuda *>' said || fail "zsh completes --device cu to: $(cat said)"
  ! grep -E 'error|not found' said || fail "see above: zsh, after --device cu"
  specs_zsh blur >specs
  ! grep -F 'cuda:N' specs || fail "zsh offers cuda:N"
fi

# Every option, argument and example of --help is in the command's parts of the page, once, which man reads without a complaint; and
# every option is known to zsh.
for command in $("$CONVFILT" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  "$CONVFILT" "$command" --help >help
  # Its own part, and those parts of the shared options whose headings name it.
  awk -v command="$command" '
    /^\.S[SH] / { inside = $0 == ".SS \"convfilt " command "\"" || (shared && $0 ~ "[ ,]" command "[ ,\"]"); shared = shared || /SHARED OPTIONS/ }
    inside' made.man >part
  ! $zsh || specs_zsh "$command" >specs
  for option in $(grep -oE '^ +(-[a-z],? ?)?--[a-z-]+' help | grep -oE -- '--[a-z-]+'); do
    [ "$(grep '^\\fB' part | grep -cF -- "\fB${option//-/\\-}\fR")" = 1 ] || fail "the manual has $command $option not once"
    ! $zsh || grep -qE -- "^[*]?$option(=|\\[)" specs || fail "zsh lacks $command $option"
  done
  for argument in $(sed -n '/^Arguments:/,/^$/s/^  \([A-Za-z]*\) .*/\1/p' help); do
    grep -qxF "\\fI$argument\\fR" part || fail "the manual lacks $argument of $command"
  done
  # The page says which arguments may be left out, as --help does.
  usage=$(sed -n "s/^Usage: convfilt $command \(.*\)/\1/p" help)
  [ "$(sed -n '/^\[\\fIOPTIONS/s/\\f[IR]//gp' part)" = "$usage" ] || fail "the manual has not the usage $command $usage"
  sed -n '/^Examples:/,/^$/{/^Examples:/d; /^$/d; s/-/\\-/g; p}' help >examples
  while IFS= read -r line; do
    grep -qxF -- "$line" part || fail "the manual lacks an example of $command: $line"
  done <examples
  ! $zsh || ! grep -vE -- '^([*]?-[a-z0-9-]+[=+-]*\[.*\](:.*)?|[0-9*]+:.*)$' specs ||
    fail "zsh takes these for no options of $command"
done
grep -qF -- '\fB\-\-json\fR[=\fIFILE\fR]' made.man || fail "the manual does not say that --json may come without a value"
! $zsh || { specs_zsh compare >specs; grep -q '^[*]--mask=' specs; } || fail "zsh offers --mask once alone"
if command -v man >/dev/null; then
  # No word is divided, so that searching for one finds it.
  MANWIDTH=60 man -l made.man | col -b 2>/dev/null | grep -nE '[a-z]‐$' && fail "man divides words"
  MANWIDTH=80 man --warnings -l made.man >page 2>complaints || fail "man fails: $(cat complaints)"
  [ ! -s complaints ] || fail "man complains: $(head -3 complaints)"
  codes=$(sed -n '/^EXIT STATUS/,/^ENVIRONMENT/p' page | grep -oE '^ +[0-9]+ ' | xargs)
  [ "$codes" = "0 1 2 3" ] || fail "the page has the exit statuses $codes"
else
  echo "skipped: man, which is not installed"
fi
echo "completion: $checked cases"
