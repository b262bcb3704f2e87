# A result never replaces what is read, nor another result: by name, by a link of either kind, there already or not.
cp samples/camera.png in.png
ln in.png hard.svg
ln -s in.png soft.txt
try compare in.png --json=./in.png
try compare in.png --csv=soft.txt
try compare - --markdown=soft.txt <in.png
same in.png samples/camera.png
convfilt compare --size 32x32 --mask 3x3 --strategies cpu --device cpu --json=all.json >table
try compare --from all.json --csv=all.json
grep -q convfilt_version all.json || fail "all.json was replaced"
try compare --size 9x9 --mask 3x3 --strategies cpu --device cpu --json=new.json --csv=./new.json
ln -s new.txt dangling.txt
try compare --size 9x9 --mask 3x3 --strategies cpu --device cpu --csv=new.txt --markdown=dangling.txt
try compare --size 9x9 --mask 3x3 --strategies cpu --device cpu --csv=new.txt --markdown >>new.txt
only . all.json dangling.txt hard.svg in.png new.txt soft.txt table
