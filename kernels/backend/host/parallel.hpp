/// Loops over tasks on all cores.
#pragma once

#include <cstdint>
#include <functional>

namespace convfilt::cpu {

/// That many threads, or as many as there are cores where `wanted` is 0.
int threads_or_all(int wanted);

/// The number of threads worth starting for that many multiply-adds, at most
/// threads_or_all(wanted).
int threads_for(std::int64_t multiply_adds, int wanted);

/// Calls task(worker, index) for every index in 0..count-1, each once, in any order, on at most
/// `threads` threads of which the caller's is one; worker is 0..threads-1. The others are those of
/// the caller's Arena, or of a new one where the caller is outside. The first exception stops the
/// loop and is thrown here.
void parallel_for(int count, int threads, const std::function<void(int worker, int index)>& task);

}  // namespace convfilt::cpu
