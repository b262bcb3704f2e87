# What is wrong is said before anything is computed or written.
convfilt explain 2>message && fail "explain alone succeeded"
grep -q '^convfilt: explain what? Name a strategy: basic, .*tiled-in, .* or cpu$' message || fail "$(cat message)"
rm message
try explain tiled_in
try explain auto --mask 4y4
try explain basic --mask 4y4
try explain basic --mask 0x3
try explain basic --size 100
try explain basic --size 0x9
try explain basic --depth u9
try explain basic --arch sm90
try explain basic --tile 16
try explain tiled-in --mask 31x31 --tile 16
try explain basic --mask 5x5 --size 4x4 --mode valid
try explain basic --picture tiles.gif
try explain basic --picture nowhere/tiles.svg
try explain cpu --picture tiles.svg
try explain basic photo.jpg
try explain block.json
try explain basic --json=nowhere/block.json
try explain winograd --tile 3
try explain tiled-in --mask 1x5 --tile 64
try explain tiled-out --mask 1x5 --tile 64
try explain cached --mask 1x9 --tile 256
try explain overlap-save --block 3
# A block is drawn by an output of its own.
try explain tiled-out --at 9,0
try explain tiled-out --picture at.svg --at 9
try explain tiled-out --picture at.svg --at 1,y
# A block may have any sides with which it has 1024 threads.
convfilt explain tiled-in --tile 32x8 | grep 'block  *36 x 12 = 432 threads' >/dev/null || fail "no tile of 32x8"
convfilt explain tiled-in --tile 100x5 | grep 'block  *104 x 9 = 936 threads' >/dev/null || fail "no tile of 100x5"
try explain tiled-in --tile 100x8
try explain tiled-in --tile 29
try explain tiled-in --mask 5x1 --tile 1021
only .
