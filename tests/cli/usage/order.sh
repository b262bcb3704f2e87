# Options mean the same before, between and after the arguments, with = and without, as the bytes show.
convfilt blur samples/camera.png a.pgm --sigma 3 --border reflect
convfilt blur --sigma=3 --border=reflect samples/camera.png b.pgm
convfilt blur --sigma 3 samples/camera.png --border=reflect c.pgm
convfilt blur --border reflect --sigma=+3.0 -- samples/camera.png d.pgm
for other in b c d; do same a.pgm $other.pgm; done
convfilt blur samples/camera.png e.pgm --sigma 3
differ a.pgm e.pgm

# Names that look like options come after --, or with a folder.
cp samples/camera.png ./-v.png
convfilt blur --sigma 3 --border reflect -- -v.png -o.pgm
same a.pgm ./-o.pgm

# Numbers are decimal.
convfilt blur samples/camera.png ten.pgm --box 10
convfilt blur samples/camera.png also-ten.pgm --box 010
same ten.pgm also-ten.pgm
