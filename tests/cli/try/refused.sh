# What is no kernel is refused, with the line and the remedy; a kernel that does not end, or crashes, is stopped.
need_tool c++
need_tool addr2line
printf 'int a;\n' >none.cu
printf '// launch: block 8x8\n__global__ void a(float* in, float* out, int width, int height) {}\n__global__ void b(float* in) {}\n' >two.cu
printf '__global__ void a(float* in, float* out, int width, int height, float* mask) {}\n' >size.cu
printf '// launch: block 8x8\n__constant__ float F[25];\n__global__ void a(float* in, float* out, int width, int height) {\n  out[0] = F[0] * nothing;\n}\n' >word.cu
printf '// launch: block 8x8\n__constant__ float F[25];\n__global__ void a(float* in, float* out, int width, int height) { *(int*)(long)(width + 64) = 1; }\n' >crash.cu
printf '// launch: block 1x1\n__constant__ float F[25];\n__global__ void a(float* in, float* out, int width, int height) { while (width > 0) out[0] = in[0]; }\n' >endless.cu
printf '// launch: block 8x8\n__global__ void a(float* in, float* out, int width, int height) {}\n' >mask.cu
printf '// launch: block 8x8\n__constant__ float F[25], G[25];\n__constant__ float H[3];\n__global__ void a(float* in, float* out, int width, int height) {}\n' >masks.cu
printf '// launch: block 8x8\n__constant__ float F[12];\n__global__ void a(float* in, float* out, int width, int height) {}\n' >room.cu
printf '// launch: block 8x8\n__global__ void a(unsigned char* in, float* out, int width, int height, float* mask) {}\n' >bytes.cu
printf '// launch: block 8x8\n__global__ void a(float* in, float* out, float* mask, int n) {}\n' >line.cu
for name in missing none two size word crash endless mask masks room bytes line; do try try $name.cu --device cpu; done
try try room.cu --device cpu --mask-size 5x5
CXX=no-compiler try try size.cu --block 8x8 --device cpu
try try size.cu --block 64x64
try try size.cu --block 8y8
try try size.cu --block 8x8 --device emulator
try try size.cu --block 8x8 --device gpu
try try
