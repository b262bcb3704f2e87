# Every command filters a real photograph, with its own options; it says nothing, and the picture keeps its shape.
run() {
  convfilt "$@" 2>said || fail "convfilt $* failed: $(cat said)"
  [ ! -s said ] || fail "convfilt $* said: $(cat said)"
  [ "$(shape "${!#}")" = "600x400x3 u8" ] || fail "convfilt $* made: $(shape "${!#}")"
}
in=samples/coffee.png
run blur $in blur.png
run blur --sigma 0.5 $in blur-0.5.png
run blur --sigma 40 $in blur-40.png
run blur --box 9 $in box.png
run sharpen $in sharpen.png
run sharpen --amount 0.5 --sigma 3 $in sharpen-less.png
for method in sobel scharr prewitt laplacian log; do run edge --method $method $in $method.png; done
run edge --direction x $in edge-x.png
run edge --direction y $in edge-y.png
run edge --method log --sigma 3 $in log-3.png
run apply motion9 $in motion.png
run apply filters/emboss3.txt $in emboss.png
# They are all different from each other and from the input.
cp $in in.png
[ "$(cksum ./*.png | cut -d ' ' -f 1 | sort -u | wc -l)" = "$(ls ./*.png | wc -l)" ] || fail "some are the same"
# Defaults are as documented.
run blur --sigma 2 $in said.png; same blur.png said.png
run sharpen --sigma 1 --amount 1 $in said.png; same sharpen.png said.png
run edge --method sobel --direction both $in said.png; same sobel.png said.png
run edge --method log --sigma 1.4 $in said.png; same log.png said.png
