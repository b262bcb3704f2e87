# Help and version go to standard output, and exit with 0; help leads with what the command does, and examples.
convfilt --version
convfilt blur --version
for command in "" blur sharpen edge apply list; do
  convfilt $command --help >help
  echo "$command: $(grep -n -m 1 Examples: help) $(grep -c '^  convfilt ' help)"
done
# -h is one screen: what the command does, its own options, and the ten that people use. --help has all that -h has.
shown=0
for command in "" $(convfilt --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  convfilt $command -h >screen
  convfilt $command --help >help
  [ "$(wc -l <screen)" -le 40 ] || fail "$command -h has $(wc -l <screen) lines"
  [ -z "$(sed -n '/^.\{81\}/p' screen)" ] || fail "$command -h is wider than 80 columns: $(sed -n '/^.\{81\}/p' screen)"
  for option in $(grep -oE '^ +(-[a-z],)?--[a-z-]+' screen | tr -d ' '); do
    grep -qE -- "^ +$option( |\[|$)" help || fail "$command --help lacks $option"
    shown=$((shown + 1))
  done
done
[ $shown -gt 60 ] || fail "-h shows only $shown options"
convfilt blur -h >screen
[ "$(sed -n '/^Often used:/,/^$/p' screen | grep -cE '^  (-[a-z],)?--')" = 10 ] || fail "not ten options that people use"
! grep -e --loader screen || fail "--loader is for --help alone"
convfilt blur --help | grep -e '^  --loader' >/dev/null
# Every strategy stands in the help of --strategy, and help answers before anything is checked.
convfilt blur --help >help
for name in $(strategies); do grep -q "^ .*\b$name\b" help || fail "no $name in help"; done
convfilt blur --sigma nonsense --help | cmp - help
convfilt blur -- --help -h >/dev/null 2>&1 && fail "after -- there are no options" || true
