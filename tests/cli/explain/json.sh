# The explanation as data: the textbook's numbers of tiled_in.stdout, 400 loads for 256 outputs, so each is used 16 times.
convfilt explain tiled-in --mask 5x5 --tile 16 --json
# To a file, beside the text; the bytes are the same, and so is the text.
convfilt explain tiled-in --mask 5x5 --tile 16 --json=block.json | diff - <(convfilt explain tiled-in --mask 5x5 --tile 16)
convfilt explain tiled-in --mask 5x5 --tile 16 --json=- | diff - block.json
# A strategy without blocks says why, and one whose threads add atomically has both their numbers.
convfilt explain cpu --json | grep -F '"no_block_because": "it runs on the CPU alone"' >/dev/null || fail "cpu: no reason"
convfilt explain scatter --json | tr -d ' \n' >flat
grep -qF '"atomic_additions":{"formula":6400,"count":6400}' flat || grep -qF '"atomic_additions":{"formula":null,"count":6400}' flat || fail "$(cat flat)"
convfilt explain in-parts --mask 36x1 --size 60x1 --part 6 --block 12 --json | grep -c '"heading"' >/dev/null || fail "no schedule"
convfilt explain tiled-in --mask 70x33 --json | tr -d ' \n' | grep -F '"mask_parts":6,"part_width":23,"part_height":16' >/dev/null || fail "no parts"
# Settings are numbers, sides or words.
convfilt explain tiled-in --tile 32x8 --idle rim --json | tr -d ' \n' | grep -F '"settings":{"tile":"32x8","idle":"rim"}' >/dev/null || fail "other settings"
# A mask's name need not be UTF-8.
printf '1 2 1\n' >$'m\xff.txt'
convfilt explain basic --mask $'m\xff.txt' --json | grep '"mask": "m' >/dev/null || fail "no JSON for a name that is no UTF-8"
# Every strategy's is JSON, under masks in parts and pictures smaller than a block, too.
if command -v python3 >/dev/null; then
  for name in $(strategies); do
    for way in "" "--mask 33x33 --size 99x70" "--mask 3x3 --size 5x3 --mode full"; do
      every 4 || continue
      # shellcheck disable=SC2086  # words
      convfilt explain "$name" $way --json >all.json 2>message || { grep -q ' refuses ' message || fail "$name $way: $(cat message)"; continue; }
      python3 -m json.tool all.json >/dev/null || fail "$name $way: no JSON"
    done
  done
fi
