/// The words of CUDA C++ for a student's kernel that is compiled by the host compiler. It is
/// included before the kernel's file, with GCC's or Clang's -fsanitize=thread, whose calls
/// lesson/machine.cpp answers: so every access to memory is seen, and plain code stays as it is.
#pragma once

// As in runner.cpp, which may find this file compiled before.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-sra", "no-reorder-blocks")
#endif

// Headers that a kernel's file may include, so that the words below do not reach into these.
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace convfilt::lesson {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

}  // namespace convfilt::lesson

using uint3 = convfilt::lesson::Index;
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 index) : x(index.x), y(index.y), z(index.z) {}
};

extern convfilt::lesson::Index threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

/// A barrier is known by its line, since the compiler may make two calls of one.
void __syncthreads(int line = __builtin_LINE());
void __syncwarp(unsigned mask = 0xFFFFFFFF);

namespace convfilt::lesson {

/// Gives each lane of the warp what the lane `from` brings.
unsigned exchange(unsigned value, int from);
template <class T>
[[gnu::always_inline]] inline T exchange(T value, int from) {
  static_assert(sizeof value == sizeof(unsigned));
  return __builtin_bit_cast(T, exchange(__builtin_bit_cast(unsigned, value), from));
}
int lane();

/// A bit for each lane of the warp that comes here: whether it brings true; and all that come.
struct Ballot {
  unsigned yes = 0, all = 0;
};
Ballot ballot(bool brings);

}  // namespace convfilt::lesson

template <class T>
T __shfl_sync(unsigned, T value, int from, int width = warpSize) {
  const int lane = convfilt::lesson::lane();
  return convfilt::lesson::exchange(value, lane / width * width + (from & (width - 1)));
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned delta, int width = warpSize) {
  const int lane = convfilt::lesson::lane(), from = lane - int(delta);
  return convfilt::lesson::exchange(value, from < lane / width * width ? lane : from);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned delta, int width = warpSize) {
  const int lane = convfilt::lesson::lane(), from = lane + int(delta);
  return convfilt::lesson::exchange(value, from >= (lane / width + 1) * width ? lane : from);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask, int width = warpSize) {
  const int lane = convfilt::lesson::lane(), from = lane ^ mask;
  return convfilt::lesson::exchange(value, from >= (lane / width + 1) * width ? lane : from);
}

inline int __all_sync(unsigned mask, int brings) {
  const convfilt::lesson::Ballot ballot = convfilt::lesson::ballot(brings != 0);
  return (ballot.yes & mask) == (ballot.all & mask);
}

namespace cooperative_groups {

/// The threads of a block.
struct thread_block {
  [[gnu::always_inline]] void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
  unsigned thread_rank() const {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  dim3 thread_index() const { return threadIdx; }
  dim3 group_index() const { return blockIdx; }
  dim3 dim_threads() const { return blockDim; }
  dim3 group_dim() const { return blockDim; }
};
inline thread_block this_thread_block() {
  return {};
}
[[gnu::always_inline]] inline void sync(const thread_block&, int line = __builtin_LINE()) {
  __syncthreads(line);
}

}  // namespace cooperative_groups

// Threads of a block run one after the other between barriers, so these need nothing more; accesses
// by them are no races.
namespace convfilt::lesson {
void begin_atomic();
void has_read();
void end_atomic();

/// Clang tells of no read before a write to the same place, unless it calls something between them.
template <class T>
T begin_atomic(const T* from) {
  begin_atomic();
  const T value = *from;
  has_read();
  return value;
}
}  // namespace convfilt::lesson
template <class T, class U>
T atomicAdd(T* to, U value) {
  const T before = convfilt::lesson::begin_atomic(to);
  *to = T(before + value);
  convfilt::lesson::end_atomic();
  return before;
}
template <class T, class U>
T atomicMax(T* to, U value) {
  const T before = convfilt::lesson::begin_atomic(to);
  if (T(value) > before) *to = T(value);
  convfilt::lesson::end_atomic();
  return before;
}
template <class T, class U>
T atomicMin(T* to, U value) {
  const T before = convfilt::lesson::begin_atomic(to);
  if (T(value) < before) *to = T(value);
  convfilt::lesson::end_atomic();
  return before;
}
template <class T, class U>
T atomicSub(T* to, U value) {
  return atomicAdd(to, -T(value));
}
template <class T, class U>
T atomicExch(T* to, U value) {
  const T before = convfilt::lesson::begin_atomic(to);
  *to = T(value);
  convfilt::lesson::end_atomic();
  return before;
}
template <class T>
T atomicCAS(T* to, T expected, T value) {
  const T before = convfilt::lesson::begin_atomic(to);
  if (before == expected) *to = value;
  convfilt::lesson::end_atomic();
  return before;
}

template <class T>
T __ldg(const T* from) {
  return *from;
}

// Functions of one expression.
#define LESSON_FUNCTION(T, name, parameters, ...) \
  inline T name parameters {                      \
    return __VA_ARGS__;                           \
  }
LESSON_FUNCTION(int, __popc, (unsigned bits), __builtin_popcount(bits))
LESSON_FUNCTION(int, __ffs, (int bits), __builtin_ffs(bits))
LESSON_FUNCTION(int, __clz, (int bits), bits == 0 ? 32 : __builtin_clz(unsigned(bits)))
LESSON_FUNCTION(float, __fmaf_rn, (float a, float b, float c), std::fma(a, b, c))
LESSON_FUNCTION(float, __fadd_rn, (float a, float b), a + b)
LESSON_FUNCTION(float, __fmul_rn, (float a, float b), (a * b))
LESSON_FUNCTION(float, __fdividef, (float a, float b), a / b)
LESSON_FUNCTION(float, rsqrtf, (float a), 1.0f / std::sqrt(a))
LESSON_FUNCTION(int, __mul24, (int a, int b), (a * b))
LESSON_FUNCTION(unsigned, __umul24, (unsigned a, unsigned b), (a * b))
LESSON_FUNCTION(void, __threadfence, ())
LESSON_FUNCTION(void, __threadfence_block, ())
LESSON_FUNCTION(void, __threadfence_system, ())
LESSON_FUNCTION(void, __trap, (), std::abort())
LESSON_FUNCTION(unsigned, __ballot_sync, (unsigned mask, int brings),
                (convfilt::lesson::ballot(brings != 0).yes & mask))
LESSON_FUNCTION(int, __any_sync, (unsigned mask, int brings), __ballot_sync(mask, brings) != 0)
LESSON_FUNCTION(unsigned, __activemask, (), convfilt::lesson::ballot(true).yes)

// They are plain functions for the pairs of types that CUDA has, so that `using namespace std`
// makes none of them ambiguous.
#define LESSON_LEAST(T, A, B)                                                             \
  constexpr T min(A a, B b) {                                                             \
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a); \
  }                                                                                       \
  constexpr T max(A a, B b) {                                                             \
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a); \
  }
#define LESSON_LEAST_OF_INTEGERS(S, U) \
  LESSON_LEAST(S, S, S)                \
  LESSON_LEAST(U, U, U)                \
  LESSON_LEAST(U, S, U)                \
  LESSON_LEAST(U, U, S)
LESSON_LEAST_OF_INTEGERS(int, unsigned)
LESSON_LEAST_OF_INTEGERS(long, unsigned long)
LESSON_LEAST_OF_INTEGERS(long long, unsigned long long)
LESSON_LEAST(float, float, float)
LESSON_LEAST(double, double, double)
LESSON_LEAST(double, float, double)
LESSON_LEAST(double, double, float)
#undef LESSON_LEAST_OF_INTEGERS
#undef LESSON_LEAST

// The library's own are not seen by -fsanitize=thread.
namespace convfilt::lesson {
void* set(void* to, int byte, std::size_t bytes);
void* copy(void* to, const void* from, std::size_t bytes);
}  // namespace convfilt::lesson
inline void* lesson_memset(void* to, int byte, std::size_t bytes) {
  return convfilt::lesson::set(to, byte, bytes);
}
inline void* lesson_memcpy(void* to, const void* from, std::size_t bytes) {
  return convfilt::lesson::copy(to, from, bytes);
}
namespace std {
using ::lesson_memcpy;
using ::lesson_memset;
}  // namespace std
#define memset lesson_memset
#define memcpy lesson_memcpy
#define memmove lesson_memcpy

#define LESSON_VECTORS(T, name)                       \
  struct name##2 {                                    \
    T x, y;                                           \
  };                                                  \
  struct name##3 {                                    \
    T x, y, z;                                        \
  };                                                  \
  struct alignas(4 * sizeof(T)) name##4 {             \
    T x, y, z, w;                                     \
  };                                                  \
  inline name##2 make_##name##2(T x, T y) {           \
    return {x, y};                                    \
  }                                                   \
  inline name##3 make_##name##3(T x, T y, T z) {      \
    return {x, y, z};                                 \
  }                                                   \
  inline name##4 make_##name##4(T x, T y, T z, T w) { \
    return {x, y, z, w};                              \
  }
LESSON_VECTORS(float, float)
LESSON_VECTORS(int, int)
#undef LESSON_VECTORS
struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) {
  return {x, y, z};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
// The linker says where such a section begins and ends; guard.s is linked before it and behind.
#define __shared__ static __attribute__((section("lesson_shared")))
#define __constant__ static __attribute__((section("lesson_constant"), used))
