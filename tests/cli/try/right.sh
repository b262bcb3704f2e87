# The samples that a student may learn from are right, in files and with other sizes.
need_tool c++
need_tool addr2line
for name in basic tiled_in; do convfilt try samples/kernels/$name.cu; done
convfilt try samples/kernels/tiled_out.cu --json | grep -E '"(right|pictures|kernel)":'
