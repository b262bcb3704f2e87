// Which instruction sets the row kernels are compiled for; before any Highway header, hence no
// guard against the multiple inclusion that foreach_target.h does.

// Ice Lake and later: vpdpwssd does in one step what vpmaddwd and vpaddd do in two.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif

// The kernels keep arrays of vectors in registers, which vectors of unknown size forbid; such
// machines take NEON.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

// Before a loop over vectors in registers: arrays of them must not go to memory, which they do in a
// loop that is not unrolled.
#ifndef CONVFILT_UNROLL_ALL
#ifdef __clang__
#define CONVFILT_UNROLL_ALL _Pragma("clang loop unroll(full)")
#else
#define CONVFILT_UNROLL_ALL _Pragma("GCC unroll 16")
#endif
#endif
