# What is neither a picture's file nor a folder, options that need a folder, and names that only bytes tell apart.
mkdir photos
for name in a b; do cp samples/camera.png photos/$name.png; done
mkfifo photos/pipe.png pipe.png
try blur photos pipe.png /dev/zero -o out
only out .convfilt-journal a.png b.png
rm photos/pipe.png
# One picture from a pipe, alone, is read.
convfilt blur <(cat photos/a.png) one.png -q
same one.png out/a.png
printf '%s\0' photos/a.png photos/b.png >list
try blur --files-from list listed
try blur photos/a.png z.png --follow-links
try blur photos/a.png photos/b.png -o z.png
[ ! -e z.png ] && [ ! -e listed ] || fail "something was made"
# A dry run refuses to resume what the run would refuse.
try blur photos out --resume --sigma 3 --dry-run
try blur photos out --resume --dry-run
mkdir names
cp photos/a.png names/$'\xe1.png'
cp photos/a.png names/$'\xe2.png'
convfilt blur names named --json -q | sed 's/"width.*/.../' | sort
# Inputs that are gone since they failed, and results that were kept, leave nothing to merge about.
echo none >photos/c.png
for i in 1 2; do convfilt blur photos parts --shard $i/2 -q 2>said || true; done
try merge parts
rm photos/c.png
cp samples/rocket.jpg parts/a.png
for i in 1 2; do convfilt blur photos parts --shard $i/2 --resume --if-exists skip -q; done
try merge parts
