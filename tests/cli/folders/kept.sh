# What a run leaves as it finds it may be of other options. --resume makes it anew, merge counts it apart, and neither takes it
# for the run's own work, unless the journal says that the same command has made it.
mkdir photos
for name in a b; do cp samples/camera.png photos/$name.png; done
convfilt blur photos three --sigma 3 -q
convfilt blur photos nine --sigma 9 -q
for how in '--if-exists skip' --newer; do
  rm -rf out
  convfilt blur photos out --sigma 3 -q
  # shellcheck disable=SC2086  # options
  convfilt blur photos out --sigma 9 $how -q
  same three/a.png out/a.png
  try merge out
  # Kept once more, it is still not done.
  # shellcheck disable=SC2086  # options
  convfilt blur photos out --sigma 9 $how --resume -q
  rm out/b.png
  try merge out
  convfilt blur photos out --sigma 9 --resume -q
  same nine/a.png out/a.png
  same nine/b.png out/b.png
  try merge out
done
# The same command knows its own results by its journal, without --resume, too.
convfilt blur photos out --sigma 9 --if-exists skip -q
try merge out
convfilt blur photos out --sigma 9 --resume -v 2>said
echo "done before: $(grep -c 'skipped, done before' said)"
# A result that was replaced meanwhile is nobody's.
cp three/a.png out/a.png
convfilt blur photos out --sigma 9 --if-exists skip -q
try merge out
convfilt blur photos out --sigma 9 --resume -q
same nine/a.png out/a.png
# What shards have kept stays so in the journal that joins theirs.
convfilt blur photos parts --sigma 3 -q
rm parts/.convfilt-journal
for i in 1 2; do convfilt blur photos parts --sigma 9 --shard $i/2 --if-exists skip -q; done
try merge parts
try merge parts
only parts .convfilt-journal a.png b.png
convfilt blur photos parts --sigma 9 --resume -q
same nine/a.png parts/a.png
same nine/b.png parts/b.png
