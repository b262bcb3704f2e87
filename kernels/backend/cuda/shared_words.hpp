/// CUDA's side of shared_words.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <tuple>

#include "kernels/backend/cuda/backend.hpp"
#include "kernels/backend/cuda/check.hpp"

namespace convfilt::cuda {

/// Words of shared memory, counted from one of them.
class SharedWords {
 public:
  CONVFILT_DEVICE explicit SharedWords(std::uint32_t* words) : words_(words) {}

  CONVFILT_DEVICE SharedWords from(int at) const { return SharedWords(words_ + at); }
  template <class Word>
  CONVFILT_DEVICE Word get(int at) const {
    return std::bit_cast<Word>(words_[at]);
  }
  template <class Word>
  CONVFILT_DEVICE void set(int at, Word word) const {
    words_[at] = std::bit_cast<std::uint32_t>(word);
  }
  /// The address must be a multiple of four words.
  template <class Word>
  CONVFILT_DEVICE Four<Word> get4(int at) const {
    return std::bit_cast<Four<Word>>(*reinterpret_cast<const uint4*>(words_ + at));
  }
  /// Reads two words, whose address must be a multiple of two words.
  CONVFILT_DEVICE void get2(int at, std::uint32_t (&words)[2]) const {
    const uint2 two = *reinterpret_cast<const uint2*>(words_ + at);
    words[0] = two.x;
    words[1] = two.y;
  }
#ifdef __CUDACC__
  template <class Word>
  __device__ void set4(int at, const Four<Word>& four) const {
    const auto bits = [&](int k) { return std::bit_cast<std::uint32_t>(four.samples[k]); };
    // The compiler at times makes four stores of an assignment of four words.
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(
                     unsigned(__cvta_generic_to_shared(words_ + at))),
                 "r"(bits(0)), "r"(bits(1)), "r"(bits(2)), "r"(bits(3))
                 : "memory");
  }
#endif
  CONVFILT_DEVICE std::uint32_t* data() const {
    return words_;
  }

 private:
  std::uint32_t* words_;
};

struct SharedLimits {
  int block = 0, multiprocessor = 0;  ///< bytes
};

inline SharedLimits most_shared(const PlanOptions& options) {
  SharedLimits limits;
  CUDA_CHECK(cudaDeviceGetAttribute(&limits.block, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                    options.device));
  CUDA_CHECK(cudaDeviceGetAttribute(&limits.multiprocessor,
                                    cudaDevAttrMaxSharedMemoryPerMultiprocessor, options.device));
  return limits;
}

/// Devices copy rows on their own from this compute capability on.
inline constexpr int kRowCopiesMajor = 9;

inline bool row_copies(const PlanOptions& options) {
  int major = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, options.device));
  return major >= kRowCopiesMajor;
}

#ifdef __CUDACC__
__device__ inline SharedWords shared_words() {
  extern __shared__ uint4 all_shared_words[];
  return SharedWords(reinterpret_cast<std::uint32_t*>(all_shared_words));
}

/// Copies sixteen bytes of samples from (x, y) on to four words.
template <class T>
__device__ inline void copy16(const PlaneView<const T>& in, int x, int y, SharedWords words,
                              int at) {
  const T* const from = in.row(y) + x;
  std::uint32_t* const to = words.data() + at;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
#else
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))),
      "l"(__cvta_generic_to_global(from))
      : "memory");
#endif
}

/// Copies sixteen bytes from in.data + from on to four words, unless none of them is a sample's.
template <class T>
__device__ inline void copy16(const PlaneView<const T>& in, std::ptrdiff_t from, SharedWords words,
                              int at, int bytes) {
  std::uint32_t* const to = words.data() + at;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  if (bytes > 0) *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(in.data + from);
#else
  // The L2 fetches whole lines: a prototype of separable took 1.16 device copies at 3x3 with this,
  // and 1.19 without (H200).
  asm volatile(
      "{.reg .pred p; setp.gt.s32 p, %2, 0;"
      "@p cp.async.cg.shared.global.L2::128B [%0], [%1], 16;}" ::"r"(
          unsigned(__cvta_generic_to_shared(to))),
      "l"(__cvta_generic_to_global(in.data + from)), "r"(bytes)
      : "memory");
#endif
}

// Rows that the device copies on its own (PTX ISA, "Data Movement and Conversion Instructions: Bulk
// copy").
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

/// Lets blocks of the kernel have that much shared memory. The driver is asked only where a size
/// exceeds the last. A kernel without shared memory keeps it all for its cache.
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), int bytes) {
  thread_local std::map<std::pair<int, const void*>, int> known;
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  int& allowed =
      known.try_emplace({device, reinterpret_cast<const void*>(kernel)}, -1).first->second;
  if (bytes <= allowed) return;
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  // By default the driver may leave so little shared memory that one block less runs at a time.
  if (bytes + attributes.sharedSizeBytes > 0) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
  }
  allowed = bytes;
}

/// How many multiprocessors the current device has.
inline int multiprocessors() {
  int device = 0, count = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// The number of the kernel's blocks that the current device runs at a time.
template <class... Parameters>
int blocks_at_once(void (*kernel)(Parameters...), dim3 block, int bytes) {
  using Key = std::tuple<const void*, int, int, int>;
  thread_local std::map<Key, int> known;
  allow_shared(kernel, bytes);
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  const int threads = int(block.x * block.y * block.z);
  int& blocks = known[{reinterpret_cast<const void*>(kernel), device, threads, bytes}];
  if (blocks == 0) {
    int on_one = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_one, kernel, threads, bytes));
    blocks = std::max(1, on_one * multiprocessors());
  }
  return blocks;
}

template <class... Parameters, class... Arguments>
void launch_shared(dim3 grid, dim3 block, int bytes, const Stream& stream,
                   void (*kernel)(Parameters...), const Arguments&... arguments) {
  allow_shared(kernel, bytes);
  kernel<<<grid, block, std::size_t(bytes), stream.get()>>>(arguments...);
  CUDA_CHECK(cudaGetLastError());
}
#endif

}  // namespace convfilt::cuda
