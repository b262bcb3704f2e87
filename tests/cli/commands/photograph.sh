# Every command filters a real photograph, with its own options; it says nothing, and the picture keeps its shape.
channels=3
run() {
  convfilt "$@" 2>said || fail "convfilt $* failed: $(cat said)"
  [ ! -s said ] || fail "convfilt $* said: $(cat said)"
  [ "$(shape "${!#}")" = "600x400x$channels u8" ] || fail "convfilt $* made: $(shape "${!#}")"
}
in=samples/coffee.png
run blur $in blur.png
run blur --sigma 0.5 $in blur-0.5.png
run blur --sigma 40 $in blur-40.png
run blur --box 9 $in box.png
run sharpen $in sharpen.png
run sharpen --amount 0.5 --sigma 3 $in sharpen-less.png
run edge --color $in edge-color.png
channels=1
for method in sobel scharr prewitt roberts farid freichen kirsch robinson laplacian log dog canny; do
  run edge --method $method $in $method.png
done
for direction in x y angle; do run edge --direction $direction $in edge-$direction.png; done
run edge --method log --sigma 3 $in log-3.png
run edge --threshold 60 $in black-and-white.png
run edge --thin $in thin.png
run edge --method log --thin $in crossings.png
channels=3
run apply motion9 $in motion.png
run apply filters/emboss3.txt $in emboss.png
# They are all different from each other and from the input.
cp $in in.png
[ "$(cksum ./*.png | cut -d ' ' -f 1 | sort -u | wc -l)" = "$(ls ./*.png | wc -l)" ] || fail "some are the same"
# Defaults are as documented.
run blur --sigma 2 $in said.png; same blur.png said.png
run sharpen --sigma 1 --amount 1 $in said.png; same sharpen.png said.png
channels=1
run edge --method sobel --direction both --sigma 1 --gain 1.5 $in said.png; same sobel.png said.png
run edge --method canny --low 20 --high 60 $in said.png; same canny.png said.png
run edge --luma $in said.png; same sobel.png said.png
