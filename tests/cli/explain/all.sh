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
# Pictures lower than a block of threads, under a mask of one row: the block in the middle is a whole one all the same,
# unless blocks are no higher than the picture.
for name in $(strategies_for_any | grep -vx winograd); do
  for rows in 1 2 3 4 5 6 7; do
    for border in replicate constant; do
      every 5 || continue
      convfilt explain "$name" --mask 5x1 --size 160x$rows --border $border >said
      ! grep -i differ said || fail "$name, $rows rows: formula and count differ"
    done
  done
done
convfilt explain basic --mask 5x1 --size 160x1 | grep '1280 / 256 = 5 .*formula and count agree' >/dev/null || fail "basic: not 5 reads an output"
convfilt explain overlap-save --domain spatial --block 20 --mask 5x1 --size 160x1 | grep '20 / 16 = 1.25 .*formula and count agree' >/dev/null ||
  fail "overlap-save: not 20 samples for 16 outputs"
# Ghost cells that a kernel makes up are counted, whatever their value.
for name in $(strategies_for_any); do
  convfilt explain "$name" --mask 3x3 --border constant --border-value 7 >said
  ! grep -i differ said || fail "$name: formula and count differ under --border-value 7"
done
convfilt explain texture --mask 5x5 --border constant --border-value 7 | grep 'ghost cells  *9564 of ' >/dev/null || fail "texture: other ghost cells"
for name in basic tiled-in tiled-out cached texture; do
  convfilt explain "$name" --mask 3x3 | grep 'formula and count agree' >/dev/null || fail "$name is not counted"
done
# A picture too large to be counted in a moment is counted on a smaller one.
convfilt explain tiled-out --mask 15x15 --size 8191x8190 | grep '^Global reads'
# Rows under a texture over memory are padded always, and those of a CUDA array are not.
convfilt explain texture --size 100x60 >said
! grep -q 'packed' said || fail "texture over rows: $(grep packed said)"
convfilt explain texture --texture array --size 100x60 | grep '^  if rows are packed' >/dev/null || fail "texture over an array: no packed rows"
# The ghost cells are a share of samples that other borders read as well.
for name in tensor separable-tensor; do
  convfilt explain $name --size 512x512 >said
  asked=$(sed -n 's/^  ghost cells .* of \([0-9]*\) samples asked for;.*/\1/p' said)
  [ -z "$asked" ] || grep -q "^  border replicate  *$asked / " said || fail "$name: ghost cells of $asked, $(grep '^  border' said)"
done
