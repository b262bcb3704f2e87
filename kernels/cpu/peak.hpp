/// The highest rates of the processor and its memory, as measured here. Times are compared with
/// them.
#pragma once

#include <cstddef>
#include <vector>

namespace convfilt::cpu {

/// Milliseconds that each of `repeats` copies of that many bytes takes by memcpy on `threads`
/// threads (0 = all cores). Threads are started for every copy, as a plan starts them.
std::vector<double> time_copy(std::size_t bytes, int threads, int repeats);

/// Single-precision operations a second on `threads` threads, in vectors of fused multiply-adds
/// that stay in registers. Each counts as two operations. The measurement takes some 0.1 s.
double measure_fp32_peak(int threads);

/// The processor's name in the operating system, e.g. "Intel(R) Xeon(R) Processor", or "CPU" where
/// the system has none.
const char* name();

}  // namespace convfilt::cpu
