# tune leaves nothing when it is interrupted.
export XDG_CACHE_HOME=$PWD/cache
mkdir folder
interrupted=0
for i in 1 2 3 4 5; do
  code=0
  timeout --foreground -s INT 0.$i "$CONVFILT" tune --device cpu --output folder/my.json >said 2>&1 || code=$?
  [ $code = 0 ] || interrupted=$((interrupted + 1))
  [ $code = 0 ] || [ -z "$(ls -A folder)" ] || fail "interrupted after 0.$i s, it left $(ls -A folder)"
  rm -rf folder/my.json
done
[ $interrupted -gt 0 ] || fail "none of five was interrupted"
[ ! -e cache ] || fail "it left $(ls -R cache)"
