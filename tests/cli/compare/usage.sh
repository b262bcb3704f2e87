# What is wrong is said before anything is measured.
try compare --strategies basci
try compare --strategies tiled-out:hallo=regions
try compare --strategies tiled-out:halo=region
try compare --strategies scatter:tile=3
try compare --strategies winograd:tile=3
try compare --strategies basic,
try compare --mask no-such-filter
try compare --mask 9x0
try compare --size 2048
try compare --size 100000x100000
try compare --depth u9
try compare --channels 2
try compare --repeats 1
try compare --patience 0
try compare --size 64x64,
try compare --depth u8,f23
try compare --channels 1,4
try compare --masks 3,
try compare --masks 3x0
try compare --masks 1026
try compare --masks emboss3
try compare --masks 3 --weights 17bit
try compare --weights 8bit
try compare --table breif
try compare --depth u8,f32 --plot x.svg
try compare --from x.json --masks 3
try compare samples/camera.png --size 10x10
try compare samples/camera.png --depth u8
try compare --json --csv
try compare --json out.json
try compare --json=nowhere/out.json
try compare --plot-kind bar --plot x.svg
try compare missing.png
try compare --stategies basic
try compare --border wrap --border-value 3
try compare -v -q
only .
