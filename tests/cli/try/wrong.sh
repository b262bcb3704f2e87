# What is wrong is said, with the line and what it probably is.
need_tool c++
need_tool addr2line
for name in missing_barrier halo_off_by_one reads_outside; do try try samples/kernels/$name.cu --device cpu; done
