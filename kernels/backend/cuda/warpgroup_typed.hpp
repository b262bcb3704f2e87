/// CUDA's side of warpgroup.hpp where the types of both matrices' bytes are said: PTX.
#pragma once

#include <cstdint>

#include "kernels/backend/cuda/byte_types.hpp"
#include "kernels/backend/cuda/warpgroup.hpp"

namespace convfilt::cuda {

#ifdef __CUDACC__
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define CONVFILT_SUMS                                                                             \
  "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]), "+r"(sums[4]), "+r"(sums[5]),       \
      "+r"(sums[6]), "+r"(sums[7]), "+r"(sums[8]), "+r"(sums[9]), "+r"(sums[10]), "+r"(sums[11]), \
      "+r"(sums[12]), "+r"(sums[13]), "+r"(sums[14]), "+r"(sums[15])

template <class A, class B>
__device__ inline void multiply(std::int32_t (&sums)[16], const Operand& a, const Operand& b,
                                bool keep = true) {
#define CONVFILT_PRODUCT(a_type, b_type)                                             \
  asm volatile(                                                                      \
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %18, 0;\n"                             \
      "wgmma.mma_async.sync.aligned.m64n32k32.s32." a_type "." b_type                \
      " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, keep;\n}" \
      : CONVFILT_SUMS                                                                \
      : "l"(a.bits()), "l"(b.bits()), "r"(int(keep)))
  CONVFILT_PRODUCT_OF(A, B)
#undef CONVFILT_PRODUCT
}

template <class A, class B>
__device__ inline void multiply(std::int32_t (&sums)[16], const std::uint32_t (&a)[4],
                                const Operand& b, bool keep = true) {
#define CONVFILT_PRODUCT(a_type, b_type)                                              \
  asm volatile(                                                                       \
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %21, 0;\n"                              \
      "wgmma.mma_async.sync.aligned.m64n32k32.s32." a_type "." b_type                 \
      " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19}, " \
      "%20, keep;\n}"                                                                 \
      : CONVFILT_SUMS                                                                 \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()), "r"(int(keep)))
  CONVFILT_PRODUCT_OF(A, B)
#undef CONVFILT_PRODUCT
}

#define CONVFILT_NAMES_64                                  \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define CONVFILT_SUMS_64                                                                         \
  CONVFILT_SUMS, "+r"(sums[16]), "+r"(sums[17]), "+r"(sums[18]), "+r"(sums[19]), "+r"(sums[20]), \
      "+r"(sums[21]), "+r"(sums[22]), "+r"(sums[23]), "+r"(sums[24]), "+r"(sums[25]),            \
      "+r"(sums[26]), "+r"(sums[27]), "+r"(sums[28]), "+r"(sums[29]), "+r"(sums[30]),            \
      "+r"(sums[31])

template <class A, class B>
__device__ inline void multiply(std::int32_t (&sums)[32], const Operand& a, const Operand& b,
                                bool keep = true) {
#define CONVFILT_PRODUCT(a_type, b_type)                                                     \
  asm volatile(                                                                              \
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\n"                                     \
      "wgmma.mma_async.sync.aligned.m64n64k32.s32." a_type "." b_type " {" CONVFILT_NAMES_64 \
      "}, %32, %33, keep;\n}"                                                                \
      : CONVFILT_SUMS_64                                                                     \
      : "l"(a.bits()), "l"(b.bits()), "r"(int(keep)))
  CONVFILT_PRODUCT_OF(A, B)
#undef CONVFILT_PRODUCT
}

template <class A, class B>
__device__ inline void multiply(std::int32_t (&sums)[32], const std::uint32_t (&a)[4],
                                const Operand& b, bool keep = true){
#define CONVFILT_PRODUCT(a_type, b_type)                                                     \
  asm volatile(                                                                              \
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %37, 0;\n"                                     \
      "wgmma.mma_async.sync.aligned.m64n64k32.s32." a_type "." b_type " {" CONVFILT_NAMES_64 \
      "}, {%32,%33,%34,%35}, %36, keep;\n}"                                                  \
      : CONVFILT_SUMS_64                                                                     \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()), "r"(int(keep)))
    CONVFILT_PRODUCT_OF(A, B)
#undef CONVFILT_PRODUCT
}

#undef CONVFILT_NAMES_64
#undef CONVFILT_SUMS_64
#undef CONVFILT_SUMS

__device__
    inline void set_turned(SharedWords words, int at, int pitch, const std::uint32_t (&own)[4]) {
  const int lane = threadIdx.x % 32;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   unsigned(__cvta_generic_to_shared(words.data() + at + lane * pitch))),
               "r"(own[0]), "r"(own[1]), "r"(own[2]), "r"(own[3])
               : "memory");
}

#else  // has_warpgroups() said so

template <class A, class B, int count, class Factor>
__device__ inline void multiply(std::int32_t (&)[count], const Factor&, const Operand&,
                                bool = true) {
  __trap();
}

__device__ inline void set_turned(SharedWords, int, int, const std::uint32_t (&)[4]) {
  __trap();
}

#endif
#endif

}  // namespace convfilt::cuda
