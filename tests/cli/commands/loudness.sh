# -v says strategy, device, why, and the times, on standard error alone.
convfilt blur samples/rocket.jpg out.png --device cpu -v
convfilt blur samples/rocket.jpg out.png --device cpu --verbose 2>&1 >stdout | sed -n 's/ (.*//; /strategy/p'
# -q says nothing, not even warnings; errors are still said.
convfilt blur samples/rocket.jpg out.png --quality 5 -q
convfilt blur samples/rocket.jpg out.png --quality 5 2>&1 | sed 's/^/a warning without -q: /'
convfilt blur samples/rocket.jpg out.png --quiet --strategy basic
try blur missing.png out.png -q
# A job of several runs says what they are for.
try edge samples/rocket.jpg out.png --device cpu -v
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefgh' >in.pam
try apply gaussian3 in.pam out.png --device cpu -v
try apply sobel_x in.pam out.png --device cpu -v
[ ! -s stdout ] || fail "on standard output there is: $(cat stdout)"
