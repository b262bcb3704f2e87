# Three machines share a folder; merge says whether all of it is there.
mkdir photos
for i in 1 2 3 4 5 6 7 8 9; do cp samples/camera.png photos/p$i.png; done
convfilt blur photos whole -q
try blur photos out --shard 1/3 -q
try blur photos out --shard 2/3 -q
try merge out
JOB_COMPLETION_INDEX=2 try blur photos out --shard auto/3 -q
echo "parts: $(ls -A out | grep -c of-3)"
rm out/p4.png
try merge out
for i in 1 2 3; do convfilt blur photos out --shard $i/3 --resume -q; done
try merge out
for i in 1 2 3 4 5 6 7 8 9; do same whole/p$i.png out/p$i.png; done
only out .convfilt-journal p1.png p2.png p3.png p4.png p5.png p6.png p7.png p8.png p9.png
# What is not one whole run is not joined: parts with other options, one that has not ended, a picture done twice.
convfilt blur photos mixed --shard 1/2 -q
convfilt blur photos mixed --shard 2/2 --sigma 3 -q
try merge mixed
convfilt blur photos mixed --shard 2/2 -q
sed -i '/^end /d' mixed/.convfilt-journal.2-of-2
try merge mixed
convfilt blur photos mixed --shard 2/2 --resume -q
sed -i "/^end /e grep '^done ' mixed/.convfilt-journal.1-of-2 | head -n 1" mixed/.convfilt-journal.2-of-2
try merge mixed
echo "parts: $(ls -A mixed | grep -c of-2)"
# The joined journal is as good as one run's, and merge looks at either again.
convfilt blur photos out --resume -v 2>said
grep -c 'done before' said
try merge out
rm out/p7.png
try merge out
try merge whole
try blur photos out --shard auto
