# What the command line asks for and no block has is an error of the command line.
try try samples/kernels/basic.cu --device cpu --shared -1
try try samples/kernels/basic.cu --device cpu --shared 99999
try try samples/kernels/basic.cu --mask-size 5
try try samples/kernels/basic.cu --mask-size 3x3x3
printf '// launch: block 8x8, 99999 bytes of shared memory\n__constant__ float F[1];\n__global__ void a(float* in, float* out, int width, int height) {}\n' >bytes.cu
try try bytes.cu --device cpu
