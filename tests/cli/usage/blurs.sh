# The kinds of blur, and what is wrong with their values.
for value in 0.4 513 big 3,4; do try blur samples/camera.png out.png --disk "$value"; done
for value in 0.5 725 9@ @9 9@361 9@up 9,4 9@1@2; do try blur samples/camera.png out.png --motion "$value"; done
for value in 0 28 2.5 3,3; do try blur samples/camera.png out.png --binomial "$value"; done
for value in 1, ,1 1,2,3 0,0 1,129 -1,1; do try blur samples/camera.png out.png --sigma "$value"; done
try blur samples/camera.png out.png --disk 3 --motion 9
try blur samples/camera.png out.png --sigma 3 --binomial 9
try blur samples/camera.png out.png --box 3 --disk 9
[ ! -e out.png ]
