# Shards of two users in one folder, of whom the second may not write what the first has made.
need_root
chmod 755 ../../.. ../.. .. . 2>/dev/null || true
mkdir in; mkdir -m 777 out
cp samples/camera.png in/a.png; cp in/a.png in/b.png
need_anyone in/a.png
(umask 022; convfilt blur in out --shard 1/2 -q)
as_anyone "$CONVFILT" blur in out --shard 2/2 -q
only out a.png b.png .convfilt-journal .convfilt-journal.1-of-2 .convfilt-journal.2-of-2
convfilt merge out -q >/dev/null
