# A side of 1025 is the longest; one more is refused.
line() { printf '1 %.0s' $(seq "$1"); echo; }
line 1025 >widest.txt
convfilt apply ./widest.txt samples/camera.png out.pgm --normalize
line 1026 >wider.txt
try apply ./wider.txt samples/camera.png none.pgm
seq 1025 | sed 's/.*/1/' >highest.txt
convfilt apply ./highest.txt samples/camera.png out.pgm --normalize
seq 1026 | sed 's/.*/1/' >higher.txt
try apply ./higher.txt samples/camera.png none.pgm
only . widest.txt wider.txt highest.txt higher.txt out.pgm
