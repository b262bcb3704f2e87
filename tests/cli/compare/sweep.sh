# Pictures x depths x channels x masks in one run: a table a picture and kind of weights, a column a mask.
convfilt compare --size 64x48,33x20 --depth u8,f32 --channels 1,3 --masks 3,5x7 --weights 16bit,rank1 --mask emboss3 \
  --strategies basic,winograd --device emulator --json=all.json >table
[ "$(grep -c '^noise: ' table)" = 24 ] || fail "not 2 x 2 x 2 pictures, each with 3 kinds of masks"
# A pixel costs basic nine reads, and thirty-five under 5x7; winograd's are not compared.
sed -n '/^noise: 33x20x3 u8, 16bit/,/^noise: 33x20x3 u8, rank1/p' table | sed 's/emulator: .*/emulator: NAME/
  /winograd on emulator/,$d; /^ *winograd /d; s/  */ /g'
grep -q ', at 5x7$' table || fail "no reason beside the mask that is refused"

# The same again from the file, or in full, or on standard output.
convfilt compare --from all.json >again
same again table
convfilt compare --from all.json --table full | grep -c '^noise: '
convfilt compare --from all.json --csv | grep -c ',basic,'
grep -m 1 '"table"' all.json

# One picture is not a sweep, but may be shown as one.
convfilt compare --size 64x64 --mask 3x3 --strategies basic --device emulator --table brief | grep -c 'u8, gaussian masks, border'
