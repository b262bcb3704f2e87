/// CUDA's side of shared_words.hpp: copies where a row may end.
#pragma once

#include "kernels/backend/cuda/shared_words.hpp"

namespace convfilt::cuda {

#ifdef __CUDACC__
/// Copies sixteen bytes from in.data + from on to four words, unless none of them is a sample's.
template <class T>
__device__ inline void copy16(const PlaneView<const T>& in, std::ptrdiff_t from, SharedWords words,
                              int at, int bytes) {
  std::uint32_t* const to = words.data() + at;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  if (bytes > 0) *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(in.data + from);
#else
  // The L2 is told to fetch whole lines, because a prototype of separable then took 1.16 device
  // copies at 3x3 instead of 1.19 (H200).
  asm volatile(
      "{.reg .pred p; setp.gt.s32 p, %2, 0;"
      "@p cp.async.cg.shared.global.L2::128B [%0], [%1], 16;}" ::"r"(
          unsigned(__cvta_generic_to_shared(to))),
      "l"(__cvta_generic_to_global(in.data + from)), "r"(bytes)
      : "memory");
#endif
}

#endif

}  // namespace convfilt::cuda
