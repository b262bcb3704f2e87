# -h asks for help wherever it stands, joined with whatever flags the command has, and whatever else is wrong.
generated=$(convfilt generate bash)
pgm in.pgm <<<"1 2 3"
asked=0
helps() {  # WORD...
  "$CONVFILT" "$@" >said 2>errors || fail "${*@Q} exits with $?: $(<errors)"
  case " $* " in *' --help '*) same said help ;; *) same said screen ;; esac
  asked=$((asked + 1))
}
for command in "" $(sed -n 's/^    \([a-z]*\))$/\1/p' <<<"$generated"); do
  convfilt $command --help >help
  convfilt $command -h >screen
  read_options "$command" "$generated"
  letters=  # its short flags
  for option in "${options[@]}"; do
    [[ $option != -? ]] || [ -n "${value_of[$option]-}" ] || letters+=${option#-}
  done
  letters=${letters/h/}
  # Of no command: those of all.
  [ -n "$command" ] || letters=vqr0
  helps $command -h
  helps $command -help
  for ((i = 0; i < ${#letters}; ++i)); do
    a=${letters:i:1}
    helps $command -h$a
    helps $command -${a}h
    [ -z "$command" ] || helps $command in.pgm out.pgm more.pgm -${a}h -z
    helps $command -${a}h --xyzzy --sigma=nonsense --border
    helps $command -$a --help
    for ((j = 0; j < i; ++j)); do
      b=${letters:j:1}
      for word in h$a$b ${a}h$b $b$a${a}h; do helps $command -$word; done
    done
  done
done
[ $asked -gt 200 ] || fail "only $asked ways to ask"
only . help screen said errors in.pgm
# But a name is a name, after -- and as an option's value, and no other letter is overlooked.
try blur -h.png out.png
try blur -- -qh out.pgm
try blur in.pgm out.pgm -xh
try blur in.pgm -ohq -q
convfilt blur in.pgm --name -h_{stem}{ext} -o out -q
only out .convfilt-journal -h_in.pgm
