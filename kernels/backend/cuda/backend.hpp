/// CUDA's side of launch.hpp.
#pragma once

#include <cuda_runtime.h>

#include "kernels/backend/cuda/owners.hpp"
#include "kernels/backend/cuda/texture.hpp"
#include "kernels/contract/plane_view.hpp"

#ifdef __CUDACC__
#define CONVFILT_DEVICE __device__
#define CONVFILT_CALLED __device__ __noinline__
#else
#define CONVFILT_DEVICE
#define CONVFILT_CALLED
#endif

/// Stands before a loop and says how many of its turns are unrolled.
#define CONVFILT_PRAGMA(text) _Pragma(#text)
#define CONVFILT_UNROLL(turns) CONVFILT_PRAGMA(unroll turns)

#define CONVFILT_BACKEND cuda
#include "kernels/backend/plain_words.hpp"

namespace convfilt::cuda {

/// How many blocks of that many threads a multiprocessor holds. As the second number of
/// __launch_bounds__ it leaves a thread no more registers than that takes.
constexpr int resident_blocks(int threads) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
  return 1024 / threads;
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
  return 1536 / threads;
#else
  return 2048 / threads;
#endif
}

/// The type of a `__shared__` tile.
template <class T, int rows, int columns>
using SharedTile = T[rows][columns];

/// Asks for a sample to be brought to the L2 cache.
template <class T>
CONVFILT_DEVICE inline void prefetch(const PlaneView<const T>& in, int x, int y) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in.row(y) + x));
#endif
}

#ifdef __CUDACC__
/// Adds to a cell that other threads may add to at the same time.
template <class T>
__device__ inline void atomic_add(T& cell, T value) {
  atomicAdd(&cell, value);
}

template <class... Parameters, class... Arguments>
void launch(dim3 grid, dim3 block, const Stream& stream, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  kernel<<<grid, block, 0, stream.get()>>>(arguments...);
  CUDA_CHECK(cudaGetLastError());
}
#endif

}  // namespace convfilt::cuda
