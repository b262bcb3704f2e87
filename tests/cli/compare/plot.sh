# gnuplot draws what was measured or counted, to a file that is whole or not there.
need_tool gnuplot
convfilt compare --size 64x64 --mask 3x3 --mask emboss3 --strategies cpu,basic --plot bars.svg >table
grep -q '^  basic ' table || fail "no table beside the chart"
for text in basic 'mask gaussian 3x3' 'mask emboss3 3x3' 'noise, 64x64x1 u8'; do
  grep -q "$text" bars.svg || fail "'$text' is not in the chart"
done
convfilt compare --size 64x64 --mask 3x3 --strategies cpu --plot=roof.png --plot-kind roofline --device cpu >table
[ "$(head -c 4 roof.png | tail -c 3)" = PNG ] || fail "roof.png is no PNG"

# Nothing has a time in the emulator, so there is no roofline; without gnuplot nothing is measured at all.
try compare --size 64x64 --mask 3x3 --strategies basic --device emulator --plot none.svg --plot-kind roofline >table
PATH=/nowhere try compare --plot none.svg
try compare --plot none.pdf
try compare --plot nowhere/none.svg
only . bars.svg roof.png table
