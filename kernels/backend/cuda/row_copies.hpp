/// CUDA's side of shared_words.hpp: rows that the device copies on its own (PTX ISA, "Data Movement
/// and Conversion Instructions: Bulk copy").
#pragma once

#include "kernels/backend/cuda/shared_words.hpp"

namespace convfilt::cuda {

/// Devices copy rows on their own from this compute capability on.
inline constexpr int kRowCopiesMajor = 9;

inline bool row_copies(const PlanOptions& options) {
  int major = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, options.device));
  return major >= kRowCopiesMajor;
}

#ifdef __CUDACC__
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ inline unsigned shared_address(SharedWords words, int at) {
  return unsigned(__cvta_generic_to_shared(words.data() + at));
}

__device__ inline void start_arrivals(SharedWords words, int at, int n) {
  for (int k = 0; k < n; ++k) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(words, at + 2 * k))
                 : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void expect(SharedWords words, int at, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(words, at)),
      "r"(bytes)
      : "memory");
}

template <class T>
__device__ inline void copy_row(const PlaneView<const T>& in, int x, int y, int samples,
                                SharedWords words, int at, int arrivals) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(words, at)),
      "l"(__cvta_generic_to_global(in.row(y) + x)), "r"(samples * int(sizeof(T))),
      "r"(shared_address(words, arrivals))
      : "memory");
}

__device__ inline void await(SharedWords words, int at, int round) {
  unsigned there = 0;
  while (!there) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
        "p;}"
        : "=r"(there)
        : "r"(shared_address(words, at)), "r"(round & 1)
        : "memory");
  }
}

__device__ inline void hand_over() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#else
// Older devices never call these, because row_copies() is false there.
__device__ inline void start_arrivals(SharedWords, int, int) {}
__device__ inline void expect(SharedWords, int, int) {}
template <class T>
__device__ inline void copy_row(const PlaneView<const T>&, int, int, int, SharedWords, int, int) {}
__device__ inline void await(SharedWords, int, int) {}
__device__ inline void hand_over() {}
#endif
#endif

}  // namespace convfilt::cuda
