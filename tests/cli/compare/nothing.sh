# The table says why there are no figures, and the exit code says that there are none.
try compare --size 9x9 --mask 5x5 --strategies winograd --device cpu >table
grep -Eq "^  winograd on cpu: Winograd's tiles" table || fail "no reason"
try compare --size 9x9 --mask 5x5 --mask 3x3 --strategies winograd --device cpu >table

# What is no report is an error of input.
mkdir folder
try compare --from folder
echo '{"convfilt_version": 1}' >half.json
try compare --from half.json
