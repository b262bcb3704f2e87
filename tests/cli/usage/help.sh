# Help and version go to standard output, and exit with 0; help leads with examples.
convfilt --version
convfilt blur --version
for command in "" blur sharpen edge apply list; do
  convfilt $command --help >help
  convfilt $command -h | cmp - help
  echo "$command: $(grep -n -m 1 Examples: help) $(grep -c '^  convfilt ' help)"
done
# Every strategy stands in the help of --strategy, and help answers before anything is checked.
convfilt blur --help >help
for name in $(strategies); do grep -q "^ .*\b$name\b" help || fail "no $name in help"; done
convfilt blur --sigma nonsense --help | cmp - help
convfilt blur -- --help -h >/dev/null 2>&1 && fail "after -- there are no options" || true
