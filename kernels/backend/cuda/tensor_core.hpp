/// CUDA's side of tensor_core.hpp: PTX.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/backend/cuda/backend.hpp"

/// CONVFILT_PRODUCT with the names that PTX has for two types of bytes.
#define CONVFILT_PRODUCT_OF(A, B)        \
  if constexpr (std::is_signed_v<A>) {   \
    if constexpr (std::is_signed_v<B>) { \
      CONVFILT_PRODUCT("s8", "s8");      \
    } else {                             \
      CONVFILT_PRODUCT("s8", "u8");      \
    }                                    \
  } else {                               \
    if constexpr (std::is_signed_v<B>) { \
      CONVFILT_PRODUCT("u8", "s8");      \
    } else {                             \
      CONVFILT_PRODUCT("u8", "u8");      \
    }                                    \
  }

namespace convfilt::cuda {

/// Sixteen bytes as one instruction moves them.
using Sixteen = Four<std::uint32_t>;

#ifdef __CUDACC__
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define CONVFILT_NO_MMA 1
#else
#define CONVFILT_NO_MMA 0
#endif

#if CONVFILT_NO_MMA
#define CONVFILT_PRODUCT(a_type, b_type) __trap()  // Strategy::prepare() refused such a device
#endif

/// sums = c + a * b, 16 x 16 bytes times 16 x 8.
template <class B, class A = std::uint8_t>
__device__ inline void mma(std::int32_t (&sums)[4], const std::uint32_t (&a)[2],
                           const std::uint32_t (&b)[1], const std::int32_t (&c)[4]) {
#if !CONVFILT_NO_MMA
#define CONVFILT_PRODUCT(a_type, b_type)                           \
  asm("mma.sync.aligned.m16n8k16.row.col.s32." a_type "." b_type   \
      ".s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"         \
      : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3]) \
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#endif
  CONVFILT_PRODUCT_OF(A, B)
}

/// sums = c + a * b, 16 x 32 bytes times 32 x 8.
template <class B, class A = std::uint8_t>
__device__ inline void mma(std::int32_t (&sums)[4], const std::uint32_t (&a)[4],
                           const std::uint32_t (&b)[2], const std::int32_t (&c)[4]) {
#if !CONVFILT_NO_MMA
#undef CONVFILT_PRODUCT
#define CONVFILT_PRODUCT(a_type, b_type)                                                        \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." a_type "." b_type                                \
      ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                          \
      : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])                              \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), \
        "r"(c[2]), "r"(c[3]))
#endif
  CONVFILT_PRODUCT_OF(A, B)
}

#undef CONVFILT_PRODUCT

/// sums += a * b.
template <class B, class A = std::uint8_t, int words, int halves>
__device__ inline void mma(std::int32_t (&sums)[4], const std::uint32_t (&a)[halves],
                           const std::uint32_t (&b)[words]) {
  mma<B, A>(sums, a, b, sums);
}

/// The value, which all lanes hold, in a register of its own: from another lane, so that the
/// compiler does not see that registers of other lanes hold the same.
__device__ inline std::int32_t kept(std::int32_t value, int lane) {
  return __shfl_sync(~0u, value, lane);
}

/// Sixteen bytes of a row of a tile, from a word on whose address is a multiple of 16.
template <int rows, int columns>
__device__ inline Sixteen read16(const std::uint32_t (&tile)[rows][columns], int row, int word) {
  return *reinterpret_cast<const Sixteen*>(&tile[row][word]);
}

template <int rows, int columns>
__device__ inline void write16(std::uint32_t (&tile)[rows][columns], int row, int word,
                               const Sixteen& bytes) {
  *reinterpret_cast<Sixteen*>(&tile[row][word]) = bytes;
}

/// Copies sixteen samples from in.data + at on to four words of a tile. Both addresses must be
/// multiples of 16. Where only `count` samples exist, zeros are written behind them.
template <int rows, int columns>
__device__ inline void copy16(const PlaneView<const std::uint8_t>& in, std::ptrdiff_t at,
                              std::uint32_t (&tile)[rows][columns], int row, int word,
                              int count = 16) {
#if CONVFILT_NO_MMA
  __trap();
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   unsigned(__cvta_generic_to_shared(&tile[row][word]))),
               "l"(__cvta_generic_to_global(in.data + at)), "r"(count)
               : "memory");
#endif
}

/// Does the same from (x, y) on.
template <int rows, int columns>
__device__ inline void copy16(const PlaneView<const std::uint8_t>& in, int x, int y,
                              std::uint32_t (&tile)[rows][columns], int row, int word) {
  copy16(in, y * in.stride + x, tile, row, word);
}

/// A byte of a row of a tile.
template <int rows, int columns>
__device__ inline std::uint32_t byte_at(const std::uint32_t (&tile)[rows][columns], int row,
                                        int byte) {
  return reinterpret_cast<const std::uint8_t*>(&tile[row][0])[byte];
}

/// Ends a group of copies.
__device__ inline void commit_copies() {
#if !CONVFILT_NO_MMA
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until this thread's copies are there, but for the last `groups` groups.
template <int groups>
__device__ inline void finish_copies() {
#if !CONVFILT_NO_MMA
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

#undef CONVFILT_NO_MMA
#endif

}  // namespace convfilt::cuda
