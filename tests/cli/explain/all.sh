# Every strategy is explained, under every border and mode that it takes, and formula and count agree.
for name in $(strategies); do
  [ "$name" = coarse ] && mask=65x65 || mask=3x3
  for way in "--border replicate" "--border constant --mode valid" "--mode full"; do
    convfilt explain "$name" --mask $mask --size 70x68 $way >said
    head -n 1 said | grep -q "^$name: " || fail "$name has no summary"
    grep -q 'family  *[a-z]*, within [0-9].* step' said || fail "$name has no bound"
    ! grep -i differ said || fail "$name: formula and count differ"
  done
done
for name in basic tiled-in tiled-out cached texture; do
  convfilt explain "$name" --mask 3x3 | grep 'formula and count agree' >/dev/null || fail "$name is not counted"
done
# A picture too large to be counted in a moment is counted on a smaller one.
convfilt explain tiled-out --mask 15x15 --size 8191x8190 | grep '^Global reads'
