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

template <class T>
CONVFILT_DEVICE inline T load(const PlaneView<const T>& in, int x, int y) {
  return *in.at(x, y);
}

/// The sample under weight (i, j) of a mask whose first weight lies over (x, y).
template <class T>
CONVFILT_DEVICE inline T load(const PlaneView<const T>& in, int x, int y, int i, int j) {
  return *(in.at(x, y) + std::uint64_t(unsigned(j)) * unsigned(in.stride) + i);
}

/// The same, through the L2 cache alone.
template <class T>
CONVFILT_DEVICE inline T load_past_l1(const PlaneView<const T>& in, int x, int y, int i, int j) {
  const T* const at = in.at(x, y) + std::uint64_t(unsigned(j)) * unsigned(in.stride) + i;
#ifdef __CUDA_ARCH__
  return __ldcg(at);
#else
  return *at;
#endif
}

/// The k-th weight, in row order, of a mask that lies in global memory.
template <class Sum>
CONVFILT_DEVICE inline Sum load_weight(const Sum* weights, int k) {
  return weights[k];
}

/// Four samples from (x, y) on, whose address is a multiple of their size.
template <class T>
CONVFILT_DEVICE inline Four<T> load4(const PlaneView<const T>& in, int x, int y) {
  return *reinterpret_cast<const Four<T>*>(in.row(y) + x);
}

/// The samples of 16 bytes from (x, y) on, whose address is a multiple of 16.
template <class T>
CONVFILT_DEVICE inline Bytes16 load16(const PlaneView<const T>& in, int x, int y) {
  return *reinterpret_cast<const Bytes16*>(in.row(y) + x);
}

/// Four neighbouring cells of a shared tile of 4-byte cells, at an address that is a multiple
/// of 16.
template <class T, int rows, int columns>
CONVFILT_DEVICE inline Four<T> shared4(const T (&tile)[rows][columns], int row, int column) {
  return *reinterpret_cast<const Four<T>*>(&tile[row][column]);
}

/// Asks for a sample to be brought to the L2 cache.
template <class T>
CONVFILT_DEVICE inline void prefetch(const PlaneView<const T>& in, int x, int y) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in.row(y) + x));
#endif
}

CONVFILT_DEVICE inline void count_ghost_cell() {}
CONVFILT_DEVICE inline void count_mask_read() {}
template <class T>
CONVFILT_DEVICE inline void count_write(const PlaneView<T>&, int, int) {}
template <class T>
CONVFILT_DEVICE inline void count_add(const PlaneView<T>&, int, int) {}

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
