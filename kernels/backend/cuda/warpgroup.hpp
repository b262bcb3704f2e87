/// CUDA's side of warpgroup.hpp: PTX.
#pragma once

#include <cstdint>

#include "kernels/backend/cuda/row_copies.hpp"
#include "kernels/backend/devices.hpp"

namespace convfilt::cuda {

/// Whether the plan's device and this build have them.
inline bool has_warpgroups(const PlanOptions& options) {
  CudaDevice device;
  CUDA_CHECK(
      cudaDeviceGetAttribute(&device.major, cudaDevAttrComputeCapabilityMajor, options.device));
  CUDA_CHECK(
      cudaDeviceGetAttribute(&device.minor, cudaDevAttrComputeCapabilityMinor, options.device));
  return convfilt::has_warpgroups(device);
}

#ifdef __CUDACC__
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define CONVFILT_NO_WARPGROUPS 0
#else
#define CONVFILT_NO_WARPGROUPS 1
#endif

inline constexpr bool kWarpgroupCode = !CONVFILT_NO_WARPGROUPS;

/// A matrix descriptor, without swizzling but where boxes.hpp makes it.
struct Operand {
  std::uint32_t place;  ///< no sum of places reaches its lead
  std::uint32_t stride;

  __device__ Operand from(int bytes) const { return chunks_on(bytes >> 4); }
  __device__ Operand chunks_on(int chunks) const { return {place + unsigned(chunks), stride}; }
  __device__ std::uint64_t bits() const { return std::uint64_t(stride) << 32 | place; }
};

__device__ inline Operand operand(SharedWords words, int lead, int stride) {
  const auto address = unsigned(__cvta_generic_to_shared(words.data()));
  return {address >> 4 | unsigned(lead >> 4) << 16, unsigned(stride >> 4)};
}

__device__ inline void begin_products() {
#if !CONVFILT_NO_WARPGROUPS
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

__device__ inline void commit_products() {
#if !CONVFILT_NO_WARPGROUPS
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/// Nothing that reads the sums shall move in front of this.
template <int count>
__device__ inline void keep_behind(std::int32_t (&sums)[count]) {
  CONVFILT_UNROLL(count)
  for (int k = 0; k < count; ++k) asm volatile("" : "+r"(sums[k])::"memory");
}

template <int later, int... counts>
__device__ inline void finish_products_but(std::int32_t (&... sums)[counts]) {
#if !CONVFILT_NO_WARPGROUPS
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(later) : "memory");
#endif
  (keep_behind(sums), ...);
}

template <int... counts>
__device__ inline void finish_products(std::int32_t (&... sums)[counts]) {
  finish_products_but<0>(sums...);
}

/// 64 columns.
__device__ inline void multiply(std::int32_t (&sums)[32], const Operand& a, const Operand& b,
                                bool keep = true) {
#if CONVFILT_NO_WARPGROUPS
  __trap();  // has_warpgroups() said so
#else
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
      "}, %32, %33, keep;\n}"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15]), "+r"(sums[16]),
        "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), "+r"(sums[21]),
        "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]), "+r"(sums[26]),
        "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]), "+r"(sums[31])
      : "l"(a.bits()), "l"(b.bits()), "r"(int(keep)));
#endif
}

/// 96 columns.
__device__ inline void multiply(std::int32_t (&sums)[48], const Operand& a, const Operand& b,
                                bool keep = true) {
#if CONVFILT_NO_WARPGROUPS
  __trap();  // has_warpgroups() said so
#else
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %50, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n96k32.s32.u8.s8 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
      "}, %48, %49, keep;\n}"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),
        "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]),
        "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15]), "+r"(sums[16]),
        "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), "+r"(sums[21]),
        "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]), "+r"(sums[26]),
        "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]), "+r"(sums[31]),
        "+r"(sums[32]), "+r"(sums[33]), "+r"(sums[34]), "+r"(sums[35]), "+r"(sums[36]),
        "+r"(sums[37]), "+r"(sums[38]), "+r"(sums[39]), "+r"(sums[40]), "+r"(sums[41]),
        "+r"(sums[42]), "+r"(sums[43]), "+r"(sums[44]), "+r"(sums[45]), "+r"(sums[46]),
        "+r"(sums[47])
      : "l"(a.bits()), "l"(b.bits()), "r"(int(keep)));
#endif
}

#undef CONVFILT_NO_WARPGROUPS
#endif

}  // namespace convfilt::cuda
