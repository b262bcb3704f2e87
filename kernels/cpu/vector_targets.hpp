// The instruction sets that the inner loops are compiled for. It is included before any Highway
// header, and again by each inclusion that foreach_target.h makes, so it has no include guard.

// On Ice Lake and later vpdpwssd does in one step what vpmaddwd and vpaddd do in two.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif

// The loops keep arrays of vectors in registers, which vectors of unknown size forbid. Machines
// with such vectors take NEON.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

// Stands before a loop over an array of vectors. Unless it is unrolled, the array goes to memory
// instead of registers.
#ifndef CONVFILT_UNROLL_ALL
#ifdef __clang__
#define CONVFILT_UNROLL_ALL _Pragma("clang loop unroll(full)")
#else
#define CONVFILT_UNROLL_ALL _Pragma("GCC unroll 16")
#endif
#endif
