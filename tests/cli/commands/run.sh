# Chains of filters: from text and from a file, one picture and folders.
picture=samples/coffee.png
# A recipe of one step is its command.
for step in 'blur --sigma 3' 'blur --motion 9@30' 'sharpen --threshold 3 --halo-limit 10' 'edge' \
  'edge --method canny' 'edge --method kirsch --thin --threshold 40' 'apply emboss3 --flip' 'apply sharpen3 --normalize'; do
  convfilt run "$step" "$picture" run.ppm
  # shellcheck disable=SC2086  # the words of a command
  set -- $step
  if [ "$1" = apply ]; then convfilt apply "$2" "$picture" one.ppm "${@:3}"
  else convfilt "$1" "$picture" one.ppm "${@:2}"; fi
  cmp run.ppm one.ppm
done
# Whatever the threads, from a file as from the command line, and in floats between.
printf '# a comment\n\n  blur --sigma 1.4   # another\n\nedge --method scharr --thin | apply "emboss3"\n' >recipe.txt
convfilt run recipe.txt "$picture" file.ppm --threads 1
convfilt run 'blur --sigma 1.4 | edge --method scharr --thin|apply emboss3' "$picture" text.ppm --threads 5
cmp file.ppm text.ppm
convfilt run - "$picture" stream.ppm <recipe.txt 2>/dev/null && exit 1
convfilt run <(cat recipe.txt) "$picture" pipe.ppm
cmp file.ppm pipe.ppm
convfilt run 'apply identity | apply emboss3' "$picture" two.ppm
convfilt apply emboss3 "$picture" one.ppm
cmp two.ppm one.ppm
printf '0.5\n' >half.txt
printf '2\n' >twice.txt
convfilt run 'apply half.txt | apply twice.txt' "$picture" same.ppm
convfilt apply identity "$picture" one.ppm
cmp same.ppm one.ppm
# The journal, --json and -v have the recipe, and --resume holds to it.
mkdir in
cp samples/coffee.png in/a.png
cp samples/coffee.png in/b.png
try run recipe.txt in out --json --no-progress --threads 1 | sort
grep -c 'scharr' out/.convfilt-journal
try run recipe.txt in out --resume --no-progress
try run 'blur | edge' in out --resume --no-progress
try run recipe.txt "$picture" out.png -v --threads 1 --depth f32 --format tiff
# Mistakes.
printf 'blur\nedge --method sobol\n' >wrong.txt
try run wrong.txt "$picture" out.png
try run 'blur | edgee' "$picture" out.png
try run 'blurr --sigma 2 | edge' "$picture" out.png
try run 'blur |' "$picture" out.png
try run '| blur' "$picture" out.png
try run 'blur || edge' "$picture" out.png
try run ' ' "$picture" out.png
try run '# nothing' "$picture" out.png
try run 'blur --sigma 0' "$picture" out.png
try run 'blur --sigma 2 --border wrap' "$picture" out.png
try run 'blur --box 3 --disk 2' "$picture" out.png
try run 'blur photo.jpg' "$picture" out.png
try run 'edge --thinn' "$picture" out.png
try run "apply 'my mask.txt" "$picture" out.png
try run 'apply nothing.txt' "$picture" out.png
try run 'apply' "$picture" out.png
try run 'run blur' "$picture" out.png
try run 'compare' "$picture" out.png
try run 'sharpen --threshold 2' "$picture" out.png --mode full
try run recipe.txt "$picture" recipe.txt --format png
try run 'apply half.txt | blur' "$picture" half.txt --format png
try run missing.txt "$picture" out.png
try run 'blur' "$picture" out.png --flip
try run in "$picture" out.png
try apply half.txt twice.txt "$picture" out.png
printf 'a|b\n' >mask.txt
try run 'apply mask.txt | blur' "$picture" out.png
