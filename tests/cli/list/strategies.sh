# Each strategy: name, family, devices, what it does. The order is the textbook's. Each family's bound is said once.
convfilt list strategies | sed 's/emulator, cuda /emulator       /; s/  */ /g; s/^ //'
# They are all choices of --strategy, and run.
pgm in.pgm <<<"1 2 3"
for name in $(strategies_for_any); do convfilt apply box3 in.pgm out.pgm --strategy "$name" -q; done
convfilt blur --sigma 8 in.pgm out.pgm --strategy coarse -q
