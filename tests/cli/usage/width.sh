# What a person reads fits 100 columns, or the terminal's width where that is known; characters are counted, not bytes.
# Machines read --csv, --json, --markdown and generate, which are let off. So are two kinds of lines: one word, such as
# a path, which is not to be broken; and messages that are one sentence, which scripts look for as one line. Here these
# are the emulator's notice, and the first line about a mask that is wrong.
export LC_ALL=C.UTF-8
[ "$(printf '\303\274\n' | sed -n '/^.$/p' | wc -l)" = 1 ] || skip "no locale here counts characters"
checked=0
fits() {  # COLUMNS COMMAND...
  local columns=$1 wide; shift
  "$@" >said 2>&1 || [ "$1" = "$CONVFILT" ] || fail "$* fails: $(head -n 3 said)"
  [ -s said ] || fail "$* says nothing"
  wide=$(sed -n "/^.\{$((columns + 1))\}/{/[^ ] [^ ]/p;}" said | sed '/^convfilt: no CUDA device /d; /^convfilt: bad.txt:/d' |
    head -n 3)
  [ -z "$wide" ] || fail "$* is wider than $columns columns: $wide"
  checked=$((checked + 1))
}
# A short run checks each of several like outputs at one of the two widths.
alike() {  # TURN COLUMNS COMMAND...
  local turn=$1; shift
  [ "${CONVFILT_TEST_SIZE:-}" != full ] && [ $((turn % 2)) = $(($1 == 80)) ] || fits "$@"
}
all() {  # COLUMNS
  local command name file turn=0
  for command in "" blur sharpen edge apply compare explain check tune mask list generate; do fits "$1" convfilt $command --help; done
  fits "$1" "$CONVFILT"
  for command in "" strategies filters devices; do fits "$1" convfilt list $command; done
  for name in $(strategies); do
    [ "$name" = coarse ] && file=65x65 || file=3x3
    turn=$((turn + 1))
    alike $turn "$1" convfilt explain "$name" --mask $file --size 70x68
    [ "$name" = coarse ] || alike $((turn + 1)) "$1" convfilt apply box3 in.pgm out.pgm --strategy "$name" -v
  done
  # A short run takes a mask that is counted sooner.
  file=33x33; [ "${CONVFILT_TEST_SIZE:-}" != full ] || file=65x65
  alike 1 "$1" convfilt explain direct --mask $file --size 999999x999999 --border constant --border-value 3
  fits "$1" convfilt blur samples/camera.png out.png -v
  fits "$1" convfilt compare --from all.json
  fits "$1" convfilt compare --from all.json --table brief
  fits "$1" convfilt compare --from sweep.json
  fits "$1" convfilt compare --from "$HERE/samples/compare/h200.json"
  printf '1 2\n3 %0200d x\n' 1 >bad.txt
  fits "$1" "$CONVFILT" apply bad.txt in.pgm out.pgm
  fits "$1" convfilt tune --quick --device cpu --output my.json -q
  for file in filters/*.txt huge.txt; do
    turn=$((turn + 1))
    alike $turn "$1" convfilt mask check "$file" --size 64x48
    alike $((turn + 1)) "$1" convfilt mask show "$file"
  done
}
HERE=$PWD
pgm in.pgm <<<"1 2 3"
for y in {1..40}; do echo {1..40}; done >huge.txt
convfilt compare --size 64x64 --mask 3x3 --json=all.json >/dev/null
convfilt compare --size 64x64 --masks 3,5,7,9,11,13,15,17,19,21,23,25 --strategies cpu,basic,winograd --json=sweep.json >/dev/null
unset COLUMNS
all 100
export COLUMNS=80
all 80
# Lines that people read as paragraphs are not broken twice: the defaults in help, and below the drawing of a mask.
convfilt blur --help | grep -x '  *line reads, for example, border = "reflect"; lines' >said || fail "help breaks its defaults twice"
convfilt mask show sobel_x | grep -x "edges; '@' is 8.00, blank is 0" >said || fail "mask show breaks its last sentence twice"
# A width below 80 counts as 80. A width that is no number counts as unknown.
COLUMNS=20 fits 80 convfilt list strategies
COLUMNS=wide fits 100 convfilt list strategies
[ $checked -gt 110 ] || fail "only $checked outputs were looked at"

# A wide terminal is used, and a narrow one kept to, by the width that it says.
wider() { sed -n "/^.\{$1\}/p" said | wc -l; }
COLUMNS=400 convfilt list strategies >said
[ "$(wider 101)" -gt 0 ] || fail "400 columns are not used"
need_tool script
unset COLUMNS
for columns in 90 150; do
  script -qec "stty cols $columns; '$CONVFILT' list strategies" /dev/null </dev/null | tr -d '\r' >said
  [ "$(wider $((columns + 1)))" = 0 ] || fail "a terminal of $columns columns gets wider lines: $(head -n 5 said)"
  [ "$(wider $((columns - 12)))" -gt 0 ] || fail "a terminal of $columns columns is not used"
done
