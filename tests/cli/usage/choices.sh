# Words that are not in a list: the nearest one is offered, or else the list.
for name in tiled_in tiledin Basic seperable foo; do try blur samples/camera.png out.png --strategy "$name"; done
for name in relect zero constnat; do try blur samples/camera.png out.png --border "$name"; done
for name in gpu GPU:0 cdua cuda: cuda:x cuda:-1 CUDA fpga; do try blur samples/camera.png out.png --device "$name"; done
try blur samples/camera.png out.png --pitch paded
try blur samples/camera.png out.png --on-damage ignore
try edge samples/camera.png out.png --method lapacian
try edge samples/camera.png out.png --method cannny
try edge samples/camera.png out.png --direction z
try edge samples/camera.png out.png --method laplacian --direction x
try edge samples/camera.png out.png --method kirsch --direction y
try edge samples/camera.png out.png --method dog --direction angle
try edge samples/camera.png out.png --direction hue --color
try edge samples/camera.png out.png --direction hue --linear
try edge samples/camera.png out.png --direction hue --region 0,0,9,9
try edge samples/camera.png out.pgm --direction hue
try edge samples/camera.png out.png --method log --sigma 0
try edge samples/camera.png out.png --low 3
try edge samples/camera.png out.png --method canny --threshold 3
try edge samples/camera.png out.png --method canny --low 61
try edge samples/camera.png out.png --color --luma
try edge samples/camera.png out.png --normalize
try apply gausian5 samples/camera.png out.png
try apply gaussian5.txt samples/camera.png out.png
try apply swirl samples/camera.png out.png
try blur samples/camera.png out.png --strategy $'a\nb'
only .
