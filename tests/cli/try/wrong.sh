# What is wrong is said, with the line and what it probably is.
need_tool c++
need_tool addr2line
# Compilers differ in whether they keep the line of the other thread's access.
for name in missing_barrier halo_off_by_one reads_outside; do
  try try samples/kernels/$name.cu --device cpu | sed 's/ (line [0-9]*) use/ use/'
done
