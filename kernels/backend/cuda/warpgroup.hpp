/// CUDA's side of warpgroup.hpp: PTX.
#pragma once

#include <cstdint>

#include "kernels/backend/cuda/shared_words.hpp"
#include "kernels/backend/cuda/tensor_core.hpp"
#include "kernels/backend/devices.hpp"

namespace convfilt::cuda {

/// Whether the plan's device and this build have warpgroups.
inline bool has_warpgroups(const PlanOptions& options) {
  CudaDevice device;
  CUDA_CHECK(
      cudaDeviceGetAttribute(&device.major, cudaDevAttrComputeCapabilityMajor, options.device));
  CUDA_CHECK(
      cudaDeviceGetAttribute(&device.minor, cudaDevAttrComputeCapabilityMinor, options.device));
  return convfilt::has_warpgroups(device);
}

#ifdef __CUDACC__
/// A matrix descriptor. Only box_operand() makes descriptors with swizzling.
struct Operand {
  std::uint32_t place;  ///< the address; the lead in the upper half, which it never reaches
  std::uint32_t stride;

  __device__ Operand from(int bytes) const { return chunks_on(bytes >> 4); }
  __device__ Operand chunks_on(int chunks) const { return {place + unsigned(chunks), stride}; }
  __device__ std::uint64_t bits() const { return std::uint64_t(stride) << 32 | place; }
};

__device__ inline Operand operand(SharedWords words, int lead, int stride) {
  const auto address = unsigned(__cvta_generic_to_shared(words.data()));
  return {address >> 4 | unsigned(lead >> 4) << 16, unsigned(stride >> 4)};
}

/// Keeps the compiler from moving reads of the sums to before this point.
template <int count>
__device__ inline void keep_behind(std::int32_t (&sums)[count]) {
  CONVFILT_UNROLL(count)
  for (int k = 0; k < count; ++k) asm volatile("" : "+r"(sums[k])::"memory");
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

inline constexpr bool kWarpgroupCode = true;

__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int later, int... counts>
__device__ inline void finish_products_but(std::int32_t (&... sums)[counts]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(later) : "memory");
  (keep_behind(sums), ...);
}

#define CONVFILT_SUMS_16                                                                          \
  "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),       \
      "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]), \
      "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15])
#define CONVFILT_SUMS_32                                                              \
  CONVFILT_SUMS_16, "+r"(sums[16]), "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]),   \
      "+r"(sums[20]), "+r"(sums[21]), "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), \
      "+r"(sums[25]), "+r"(sums[26]), "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), \
      "+r"(sums[30]), "+r"(sums[31])
#define CONVFILT_SUMS_48                                                              \
  CONVFILT_SUMS_32, "+r"(sums[32]), "+r"(sums[33]), "+r"(sums[34]), "+r"(sums[35]),   \
      "+r"(sums[36]), "+r"(sums[37]), "+r"(sums[38]), "+r"(sums[39]), "+r"(sums[40]), \
      "+r"(sums[41]), "+r"(sums[42]), "+r"(sums[43]), "+r"(sums[44]), "+r"(sums[45]), \
      "+r"(sums[46]), "+r"(sums[47])
#define CONVFILT_NAMES_16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define CONVFILT_NAMES_32 \
  CONVFILT_NAMES_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define CONVFILT_NAMES_48 \
  CONVFILT_NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"

/// A product of that many sums and columns. Its operands' names follow those of the sums.
#define CONVFILT_MULTIPLY(count, columns, a_type, b_type, a_names, b_name, keep_name, ...) \
  asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, " keep_name                         \
               ", 0;\n"                                                                    \
               "wgmma.mma_async.sync.aligned.m64n" #columns "k32.s32." a_type "." b_type   \
               " {" CONVFILT_NAMES_##count "}, " a_names ", " b_name ", keep;\n}"          \
               : CONVFILT_SUMS_##count                                                     \
               : __VA_ARGS__, "l"(b.bits()), "r"(int(keep)))

template <class A, class B>
__device__ inline void multiply(std::int32_t (&sums)[16], const Operand& a, const Operand& b,
                                bool keep = true) {
#define CONVFILT_PRODUCT(a_type, b_type) \
  CONVFILT_MULTIPLY(16, 32, a_type, b_type, "%16", "%17", "%18", "l"(a.bits()))
  CONVFILT_PRODUCT_OF(A, B)
#undef CONVFILT_PRODUCT
}

template <class A, class B>
__device__ inline void multiply(std::int32_t (&sums)[16], const std::uint32_t (&a)[4],
                                const Operand& b, bool keep = true) {
#define CONVFILT_PRODUCT(a_type, b_type)                                                  \
  CONVFILT_MULTIPLY(16, 32, a_type, b_type, "{%16,%17,%18,%19}", "%20", "%21", "r"(a[0]), \
                    "r"(a[1]), "r"(a[2]), "r"(a[3]))
  CONVFILT_PRODUCT_OF(A, B)
#undef CONVFILT_PRODUCT
}

template <class A, class B>
__device__ inline void multiply(std::int32_t (&sums)[32], const Operand& a, const Operand& b,
                                bool keep = true) {
#define CONVFILT_PRODUCT(a_type, b_type) \
  CONVFILT_MULTIPLY(32, 64, a_type, b_type, "%32", "%33", "%34", "l"(a.bits()))
  CONVFILT_PRODUCT_OF(A, B)
#undef CONVFILT_PRODUCT
}

template <class A, class B>
__device__ inline void multiply(std::int32_t (&sums)[32], const std::uint32_t (&a)[4],
                                const Operand& b, bool keep = true){
#define CONVFILT_PRODUCT(a_type, b_type)                                                  \
  CONVFILT_MULTIPLY(32, 64, a_type, b_type, "{%32,%33,%34,%35}", "%36", "%37", "r"(a[0]), \
                    "r"(a[1]), "r"(a[2]), "r"(a[3]))
    CONVFILT_PRODUCT_OF(A, B)
#undef CONVFILT_PRODUCT
}

__device__ inline void multiply(std::int32_t (&sums)[32], const Operand& a, const Operand& b,
                                bool keep = true) {
  multiply<std::uint8_t, std::int8_t>(sums, a, b, keep);
}

__device__ inline void multiply(std::int32_t (&sums)[48], const Operand& a, const Operand& b,
                                bool keep = true) {
  CONVFILT_MULTIPLY(48, 96, "u8", "s8", "%48", "%49", "%50", "l"(a.bits()));
}

#undef CONVFILT_MULTIPLY
#undef CONVFILT_NAMES_48
#undef CONVFILT_NAMES_32
#undef CONVFILT_NAMES_16
#undef CONVFILT_SUMS_48
#undef CONVFILT_SUMS_32
#undef CONVFILT_SUMS_16

__device__ inline void set_turned(SharedWords words, int at, int pitch,
                                  const std::uint32_t (&own)[4]) {
  const int lane = threadIdx.x % 32;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   unsigned(__cvta_generic_to_shared(words.data() + at + lane * pitch))),
               "r"(own[0]), "r"(own[1]), "r"(own[2]), "r"(own[3])
               : "memory");
}

#else  // kernels for warpgroups are empty here, and has_warpgroups() keeps plans from running them

inline constexpr bool kWarpgroupCode = false;

__device__ inline void begin_products() {}
__device__ inline void commit_products() {}

template <int later, int... counts>
__device__ inline void finish_products_but(std::int32_t (&... sums)[counts]) {
  (keep_behind(sums), ...);
}

template <int count>
__device__ inline void multiply(std::int32_t (&)[count], const Operand&, const Operand&,
                                bool = true) {
  __trap();
}

template <class A, class B, int count, class Factor>
__device__ inline void multiply(std::int32_t (&)[count], const Factor&, const Operand&,
                                bool = true) {
  __trap();
}

__device__ inline void set_turned(SharedWords, int, int, const std::uint32_t (&)[4]) {
  __trap();
}

#endif

template <int... counts>
__device__ inline void finish_products(std::int32_t (&... sums)[counts]) {
  finish_products_but<0>(sums...);
}

#endif

}  // namespace convfilt::cuda
