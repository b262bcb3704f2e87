/// What the processor and its memory give at best, measured: what times are held against.
#pragma once

#include <cstddef>
#include <vector>

namespace convfilt::cpu {

/// Milliseconds of copies of that many bytes by memcpy on `threads` threads (0 = all cores), a part
/// each, started for every copy as a plan starts them.
std::vector<double> time_copy(std::size_t bytes, int threads, int repeats);

/// Single-precision operations a second of vectors of fused multiply-adds in registers, a fused one
/// being two, on `threads` threads. Takes some tenth of a second.
double measure_fp32_peak(int threads);

/// As the operating system calls it, e.g. "Intel(R) Xeon(R) Processor"; "CPU" where it does not.
const char* name();

}  // namespace convfilt::cpu
