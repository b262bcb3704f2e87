# A signal drops what is under way, whole pictures stay, --resume does the rest, and the exit code tells the signal.
mkdir photos
{ printf 'P5\n6000 4000\n255\n'; head -c 24000000 /dev/zero; } >photos/p00.pgm
for i in {01..15}; do cp photos/p00.pgm photos/p$i.pgm; done
convfilt blur photos whole --sigma 3 -q
for signal in INT TERM; do
  rm -rf out
  code=0
  # The signal comes after the first picture. The program runs in the foreground, since SIGINT would not reach it elsewhere.
  { for _ in {1..3000}; do ! compgen -G 'out/*.pgm' >ready || break; sleep 0.01; done; kill -s $signal "$(cat pid)" || :; } 2>ended &
  { bash -c 'echo $$ >pid; exec "$CONVFILT" blur photos out --sigma 3 --threads 2' || code=$?; } 2>said
  wait $!
  [ $code = $((128 + $(kill -l $signal))) ] || [ $code = 0 ] || fail "exit code $code after SIG$signal: $(cat said)"
  [ $code = 0 ] || grep -q -- --resume said || fail "it does not say how to go on: $(cat said)"
  for picture in out/*.pgm; do [ ! -e "$picture" ] || same "whole/${picture#out/}" "$picture"; done
  convfilt blur photos out --sigma 3 --resume -q
  for picture in whole/*.pgm; do same "$picture" "out/${picture#whole/}"; done
  [ "$(ls -A out | wc -l)" = 17 ] || fail "$(ls -A out)"
done
