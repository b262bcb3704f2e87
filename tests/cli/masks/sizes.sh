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
# Weights beyond the arithmetic of the picture's depth: the mask is blamed, not the device.
echo '1e30 1' >huge.txt
echo '1e39 1' >huger.txt
pgm deep.pgm 65535 <<<'1 2 3'
try apply ./huge.txt samples/camera.png none.pgm
try apply ./huge.txt samples/camera.png none.pgm --device cpu
try apply ./huger.txt deep.pgm none.pgm --device emulator
try apply ./huge.txt samples/camera.png out.pgm --normalize
rm huge.txt huger.txt deep.pgm
only . widest.txt wider.txt highest.txt higher.txt out.pgm
