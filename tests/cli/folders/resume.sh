# A second run does just what is missing, and knows what changed in between.
mkdir photos
for name in a b c; do cp samples/camera.png photos/$name.png; done
convfilt blur photos out -q
stamp() { stat -c '%Y %y %i' out/$1.png; }
before_a=$(stamp a)
rm out/b.png                       # a result that is gone
echo >>photos/c.png; truncate -s -1 photos/c.png   # an input that was written to since
convfilt blur photos out --resume -v 2>said
grep 'skipped, done before' said | sed 's/^convfilt: //' >&2
[ "$before_a" = "$(stamp a)" ] || fail "a was written again"
same out/a.png out/b.png
# Other options are another run.
try blur photos out --resume --sigma 3
# As is another version's journal, or none of ours.
echo rubbish >out/.convfilt-journal
try blur photos out --resume
rm out/.convfilt-journal
# --if-exists and --newer look at the results alone.
try blur photos out --if-exists skip -v 2>said
grep -c 'skipped, exists' said
try blur photos out --if-exists fail
touch -d '1 hour ago' photos/a.png photos/b.png
touch -d '1 hour' photos/c.png
convfilt blur photos out --newer --json -q | sed 's/"width.*/.../'
# Copies keep times, so an input as old as its result is not newer.
touch -r out/c.png photos/c.png
convfilt blur photos out --newer -v 2>said
grep -c 'skipped, not newer' said
# In place, no picture is filtered twice.
cp -r photos twice
convfilt apply mean3 twice twice --in-place -q 2>/dev/null || convfilt blur twice twice --in-place -q
sum=$(cat twice/*.png | cksum)
if convfilt list masks | grep '^  mean3 ' >/dev/null; then command='apply mean3'; else command=blur; fi
convfilt $command twice twice --in-place --resume -q
[ "$sum" = "$(cat twice/*.png | cksum)" ] || fail "filtered twice"
# Options that differ in the last digit alone are other options.
mkdir floats
convfilt apply identity photos/a.png floats/a.pfm -q 2>/dev/null || { printf 'Pf\n4 4\n-1.0\n'; head -c 64 /dev/zero; } >floats/a.pfm
convfilt blur floats exact --border constant --border-value 1e-7 -q
try blur floats exact --border constant --border-value 4e-7 --resume
