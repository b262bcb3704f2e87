# The tables of ECE408 and PMPP: reuse in one dimension and in two, ghosts out, operations per byte. By formula alone, so a
# tile of 64 x 64 threads, which no GPU launches, has its numbers too.
convfilt explain --table tile=8,16,32,64 mask=5,9
# In one word or in two, before the strategy or behind it.
convfilt explain tiled-out --table tile=8,16 mask=5 >one
convfilt explain --table "mask=5 tile=8,16" tiled-out >two
same one two
convfilt explain --table=tile=8,16 mask=5 tiled-out 2>/dev/null >three || convfilt explain tiled-out --table=tile=8,16 mask=5 >three
same one three
[ "$(grep -c tiled-out one)" = 6 ] || fail "$(cat one)"
! grep "^ *basic" one || fail "another strategy"
# --size says over which picture the average without ghosts goes, and --depth how many bytes a sample has.
convfilt explain tiled-out --table tile=8 mask=5 --size 16x16 --depth u8 >small
grep -A2 'One dimension: reuse, ghosts out' small | grep -q '3\.70$' || fail "$(cat small)"
convfilt explain tiled-out --table tile=8,64 mask=5 --markdown >table.md
grep -qF '| tiled-out | 5x5 | 11.1 | 22.1\* | 25.0 | ECE408 |' table.md || fail "$(cat table.md)"
convfilt explain tiled-in --table tile=8,16 mask=9 --json=table.json --markdown=again.md
convfilt explain tiled-in --table tile=8,16 mask=9 --json | diff - table.json
# Halves are rounded as books do, the last column but one is what larger tiles approach, and published rows say where they stand.
convfilt explain --table tile=8,16 mask=5,9 | tr -s ' ' >said
for line in 'tiled-in 5x5 3.13 7.03 12.5 2.50 4.50 6.25 PMPP 4e 7.4, 5e 7.5' 'tiled-in 9x9 - 10.1 40.5 - 8.10 20.3 PMPP 4e 7.4, 5e 7.5' 'tiled-out 9x9 20.3 36.0 81.0 ECE408' \
  'basic 5x5 0.500 0.500 0.500 0.481 0.481 0.481' 'overlap-save:domain=spatial 9x9 20.3 36.0 81.0' 'unrolled 5x5 2.47 2.47'; do
  grep -q "^ $line$" said || fail "no line '$line' in $(cat said)"
done
convfilt explain --table tile=8 mask=5 --depth u8 | grep "PMPP 4e 7" && fail "the book has floats"
tr -d ' \n' <table.json >flat
grep -qF '"dimensions":2,"mask":9,"tile":16,"reads_per_output":4.0,"reuse":20.25,"reuse_ghosts_out":' flat || fail "$(cat flat)"
grep -qF '"operations_per_byte":10.125,"operations_per_byte_moved":8.1,"reuse_limit":81.0,"operations_per_byte_limit":40.5,"operations_per_byte_moved_limit":20.25,"launch":true}' flat || fail "$(cat flat)"
grep -qF '"tile":8,"reads_per_output":null,"reuse":null,"reuse_ghosts_out":null,"operations_per_byte":null,"operations_per_byte_moved":null,"reuse_limit":81.0,"operations_per_byte_limit":40.5,"operations_per_byte_moved_limit":20.25,"launch":"the' flat ||
  fail "$(cat flat)"
