# A grader gets JSON whatever happens, and exit code 3 where it is not the kernel's fault.
need_tool c++
need_tool addr2line
says() { local status=0; convfilt try "$@" --device cpu --json 2>/dev/null || status=$?; echo "exit $status"; }
printf '// launch: block 8x8\n__global__ void a(float* in, float* out, int width, int height) {}\n' >refused.cu
printf '// launch: block 8x8\n__constant__ float F[1];\n__global__ void a(float* in, float* out, int width, int height) {\n  nothing();\n}\n' >word.cu
printf '// launch: block 8x8\n__constant__ float F[1];\n__global__ void a(float* in, float* out, int width, int height) {\n  out[0] = 1;\n' >brace.cu
mkfifo pipe.cu
says refused.cu
says word.cu | grep -v '"text"'
says brace.cu
says pipe.cu
says missing.cu
TMPDIR=/nowhere says word.cu
CXX=no-compiler says word.cu
# A verdict says who was given what, and where a fault was seen.
printf '// launch: block 8x4\n__constant__ float F[1][1];\n__global__ void a(float* N, float* P, int w, int h) {\n  P[threadIdx.x] = F[0][0] * N[w * h];\n}\n' >wrong.cu
says wrong.cu | sed -n '/"parameters"/,/"seconds"/p;/"outside_read"/,/}/p'
