/// The host's side of launch.hpp: CUDA's words as plain loops on the CPU, at its full speed.
///
/// It serves kernels without shared memory and barriers, whose threads need not know of each other.
/// The blocks are spread over the cores, and the threads of a block are a loop. Nothing is counted
/// or checked; the emulator does that for the same source.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/backend/emulator/cuda_words.hpp"
#include "kernels/backend/emulator/owners.hpp"
#include "kernels/backend/host/parallel.hpp"

#define CONVFILT_DEVICE
#define CONVFILT_CALLED
#define CONVFILT_UNROLL(turns)

#define CONVFILT_BACKEND host
#include "kernels/backend/plain_words.hpp"

namespace convfilt::host {

using emulator::blockIdx;
using emulator::clear;
using emulator::copy_rows;
using emulator::counts_of;
using emulator::DeviceBuffer;
using emulator::dim3;
using emulator::download_rows;
using emulator::Event;
using emulator::free_memory;
using emulator::reset_counts;
using emulator::SideStream;
using emulator::Stream;
using emulator::Textures;
using emulator::upload_rows;
using std::max;
using std::min;

inline constinit thread_local emulator::Index3 threadIdx, blockDim;

/// Pictures already lie in this memory, so none are copied.
inline constexpr bool kHasOwnMemory = false;

/// Adds to a cell that other threads may add to: blocks run on several CPU threads.
template <class T>
void atomic_add(T& cell, T value) {
  std::atomic_ref<T>(cell).fetch_add(value, std::memory_order_relaxed);
}

template <class... Parameters, class... Arguments>
void launch(dim3 grid, dim3 block, const Stream& stream, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  constexpr std::int64_t kWorkOfAThread = 64;  // multiply-adds; few kernels do less
  constexpr std::int64_t kMostTasks = 1024;    // so that the cores end at nearly the same time
  const std::int64_t blocks = std::int64_t(grid.x) * grid.y * grid.z;
  const std::int64_t tasks = std::min(blocks, kMostTasks);
  const int threads =
      cpu::threads_for(blocks * block.x * block.y * block.z * kWorkOfAThread, stream.threads());
  cpu::parallel_for(int(tasks), threads, [&](int, int task) {
    blockDim = {int(block.x), int(block.y), int(block.z)};
    for (std::int64_t b = blocks * task / tasks; b < blocks * (task + 1) / tasks; ++b) {
      blockIdx = {int(b % grid.x), int(b / grid.x % grid.y), int(b / grid.x / grid.y)};
      for (threadIdx.z = 0; threadIdx.z < int(block.z); ++threadIdx.z) {
        for (threadIdx.y = 0; threadIdx.y < int(block.y); ++threadIdx.y) {
          for (threadIdx.x = 0; threadIdx.x < int(block.x); ++threadIdx.x) kernel(arguments...);
        }
      }
    }
  });
}

}  // namespace convfilt::host
