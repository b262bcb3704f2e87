# What is wrong with the lists of --table is said, with what to write instead.
try explain --table
try explain --table tile=8
try explain --table mask=5
try explain --table tile=0 mask=5
try explain --table tile=x mask=5
try explain --table tile=8,,16 mask=5
try explain --table tile= mask=5
try explain --table tile=2000 mask=5
try explain --table tile=8 mask=5x5
try explain --table tile=8 mask=33
try explain --table tile=8 masks=5
try explain --table tile=8 tile=16
try explain --table "tile=8 mask" tiled-out
try explain tiled --table tile=8 mask=5
try explain scatter --table tile=8 mask=5
try explain two-pass --table tile=8 mask=5
try explain tiled-out --table tile=8 mask=5 --tile 16
try explain tiled-out --table tile=8 mask=5 --mask 5x5
try explain tiled-out --table tile=8 mask=5 --picture tiles.svg
try explain --table tile=8 mask=5 --json --markdown
try explain --table tile=8 mask=5 --json=nowhere/table.json
try explain tiled-out --markdown
try explain tiled-out --markdown --json
try explain --table overlap tile=8
try explain overlap-add --table overlap
try explain --table overlap --picture tiles.svg
try explain --table overlap --tile 8
try explain --table overlap --steps 2
try explain --table tile=8 mask=5 --block 8
try explain --table overlap --mask 5x5 --size 3x3 --mode valid
