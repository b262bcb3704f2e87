# Homework as it is handed in: lines, volumes, "valid" outputs, launches in main(), templates and cooperative groups are right; and
# mistakes in it are called what they are. homework_full has the rest.
need_tool c++
need_tool addr2line
ln -s "$(dirname "${BASH_SOURCE[0]}")/../../lesson/homework" homework
said() { { convfilt try $1 --device cpu "${@:2}" 2>&1 || :; } | grep -v '^convfilt:' | sed '/^$/,$d;/^nvcc, /d;/^Outputs are off/d;s/ (line [0-9]*) / /'; }
for name in dynamic groups launch_rows launch_float launch_stride launch_tile line_valid rgb_two_batches volume_basic; do said homework/$name.cu; done
wrong() { sed -E "$2" homework/$1.cu >$1.cu; echo "$1: $2"; said $1.cu | sed -n '3,$p'; }  # KERNEL SED
wrong book_const 's/P\[outRow \* width \+ outCol\]/P[outCol * height + outRow]/'
wrong book_const 's/float Pvalue = 0.0f/int Pvalue = 0/'
wrong book_const 's/Pvalue \+= /Pvalue = /'
wrong book_const 's/outCol < width/outCol <= width/'
wrong book_tiled 's/N_s\[threadIdx.y\]\[threadIdx.x\] = N\[/N_s[threadIdx.y][threadIdx.x \& ~1] = N[/'
wrong templated '/__syncthreads/d'
wrong groups 's/for each 16x16/for each 8x8/'
# The mode and the block are found, or as asked for.
said homework/valid.cu --mode valid
said homework/valid.cu --mode same | sed -n 1,3p
said homework/volume_basic.cu --block 4x4x2
try try homework/valid.cu --mode full
try try homework/volume.cu --mask-size 5x3 --device cpu
try try homework/line_basic.cu --mask-size 3x3 --device cpu
