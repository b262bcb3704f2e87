# -v says strategy, device, why, and the times, on standard error alone.
convfilt blur samples/rocket.jpg out.png --device cpu -v
convfilt blur samples/rocket.jpg out.png --device cpu --verbose 2>&1 >stdout | sed -n 's/ (.*//; /strategy/p'
# -q says nothing, not even warnings; errors are still said.
convfilt blur samples/rocket.jpg out.png --quality 5 -q
convfilt blur samples/rocket.jpg out.png --quality 5 2>&1 | sed 's/^/a warning without -q: /'
convfilt blur samples/rocket.jpg out.png --quiet --strategy basic
try blur missing.png out.png -q
[ ! -s stdout ] || fail "on standard output there is: $(cat stdout)"
