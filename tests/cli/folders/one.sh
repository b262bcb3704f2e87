# One picture is a list of one: --json, --dry-run, --if-exists, --newer, --fail-fast and --resume do for it what they do for many.
pgm in.pgm <<<"0 0 0 255"
try blur in.pgm out.pgm --dry-run
try blur in.pgm out.pgm --dry-run --json
only . in.pgm
try blur in.pgm out.pgm --json --fail-fast -q >said
sed 's/"ms":.*/"ms":.../' said
cp out.pgm first.pgm
try blur in.pgm out.pgm --sigma 9 --if-exists skip --json
try blur in.pgm out.pgm --sigma 9 --if-exists skip -v
try blur in.pgm out.pgm --sigma 9 --if-exists fail --json
try blur in.pgm out.pgm --sigma 9 --if-exists fail --dry-run
touch -r out.pgm -d '2 seconds ago' in.pgm
try blur in.pgm out.pgm --sigma 9 --newer --json
same first.pgm out.pgm
touch -d '2 seconds ago' out.pgm
touch in.pgm
convfilt blur in.pgm out.pgm --sigma 9 --newer
differ first.pgm out.pgm
try blur missing.pgm other.pgm --json
try blur missing.pgm other.pgm --dry-run --json
printf 'P5\n9 9\n255\n123' >cut.pgm
try blur cut.pgm other.pgm --json
# Pipes: a plan may be printed, a result and its line of JSON may not mix.
try blur - - --format pgm --dry-run <in.pgm
try blur in.pgm - --format pgm --json
try blur in.pgm - --format pgm --resume
convfilt blur - out.pgm --json <in.pgm | sed 's/"ms":.*/"ms":.../'
same first.pgm out.pgm
only . cut.pgm first.pgm in.pgm out.pgm said

# --resume keeps a journal beside OUT, and skips what the same command has done with the same file.
mkdir out
resume() { try blur in.pgm out/b.pgm --resume --json "$@" >said; sed 's/"width.*/.../' said; }
resume
only out .convfilt-journal b.pgm
resume
resume --dry-run
resume --threads 1
resume --sigma 3
same first.pgm out/b.pgm
pgm in.pgm <<<"0 0 9 255"
resume
resume
rm out/b.pgm
resume
convfilt merge out
# A run of the folder goes on with that journal, and a single picture with a folder's, of which the rest stays.
mkdir photos
for name in a b c; do cp in.pgm photos/$name.pgm; done
convfilt blur photos all -q
rm all/b.pgm
try blur photos/b.pgm all/b.pgm --resume -q
convfilt merge all
try blur photos/a.pgm all/a.pgm --resume --json
# With these options an OUT without a picture's ending is a folder, as for many.
convfilt blur in.pgm new --resume -q
only new .convfilt-journal in.pgm
convfilt blur in.pgm newer --json -q >said
only newer .convfilt-journal in.pgm
