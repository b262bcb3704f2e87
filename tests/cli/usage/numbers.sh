# Values that are no numbers, and numbers out of range.
for sigma in 0 -1 nan inf 1e9 128.01 abc 1.5.1 0x1 '1 ' ''; do try blur samples/camera.png out.png --sigma "$sigma"; done
try sharpen samples/camera.png out.png --sigma 0
try sharpen samples/camera.png out.png --amount -1
try sharpen samples/camera.png out.png --amount nan
try sharpen samples/camera.png out.png --amount 1e7
try edge samples/camera.png out.png --method log --sigma -2
for side in 0 -3 1026 2.5 99999999999 3px; do try blur samples/camera.png out.png --box "$side"; done
try blur samples/camera.png out.png --box 3 --sigma 2
for threads in 0 -1 1025 2.5 all; do try blur samples/camera.png out.png --threads "$threads"; done
for quality in 101 -1 9.5 best; do try blur samples/camera.png out.jpg --quality "$quality"; done
for pixels in 0 -5 1e6 many; do try blur samples/camera.png out.png --max-pixels "$pixels"; done
try blur samples/camera.png out.png --border wrap --border-value 3
for value in 256 -1 0.5 nan white; do try blur samples/camera.png out.png --border constant --border-value "$value"; done
printf 'Pf 1 1 -1 \0\0\0\0' >float.pfm
try blur float.pfm out.pfm --border constant --border-value 1e300
convfilt blur float.pfm out.pfm --border constant --border-value -1e38
rm float.pfm out.pfm
only .
