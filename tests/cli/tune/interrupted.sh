# Interrupted, it leaves nothing, and an earlier profile as it was.
export XDG_CACHE_HOME=$PWD/cache
unset CONVFILT_PROFILES

# Interrupts tune after tenths of a second, several times, and runs a check after each.
interrupt() {  # CHECK ARGUMENT...
  local check=$1 interrupted=0 i code; shift
  for i in 1 2 3 4 5; do
    code=0
    timeout --foreground -s INT 0.$i "$CONVFILT" tune --device cpu "$@" >said 2>&1 || code=$?
    [ $code != 0 ] || { restore; continue; }
    interrupted=$((interrupted + 1))
    $check 0.$i
  done
  [ $interrupted -gt 0 ] || fail "none of five was interrupted"
}

mkdir folder
restore() { rm -f folder/my.json; }
leaves_nothing() { [ -z "$(ls -A folder)" ] || fail "interrupted after $1 s, it left $(ls -A folder)"; }
interrupt leaves_nothing --output folder/my.json
[ ! -e cache ] || fail "it left $(ls -R cache)"

# At the place that is taken without --output.
convfilt tune --device cpu --quick >said 2>&1
mine=$(echo cache/convfilt/profiles/*.json)
cp -p "$mine" before.json
restore() { cp -p before.json "$mine"; }
leaves_mine() {
  same before.json "$mine"
  [ ! "$mine" -nt before.json ] || fail "interrupted after $1 s, it wrote $mine anew"
  [ "$(ls -A cache/convfilt/profiles)" = "${mine##*/}" ] || fail "interrupted after $1 s, it left $(ls -A cache/convfilt/profiles)"
}
interrupt leaves_mine
