/// The words of CUDA C++ for a student's kernel that is compiled by the host compiler. It is
/// included before the kernel's file, with GCC's or Clang's -fsanitize=thread, whose calls
/// lesson/machine.cpp answers: so every access to memory is seen, and plain code stays as it is.
#pragma once

// What a kernel's file may include, so that its words below do not reach into these.
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

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

extern convfilt::lesson::Index threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

void __syncthreads();
void __syncwarp(unsigned mask = 0xFFFFFFFF);

namespace convfilt::lesson {

/// Gives each lane of the warp what the lane `from` brings.
float exchange(float value, int from);
int exchange(int value, int from);
unsigned exchange(unsigned value, int from);
int lane();

/// Where dynamic shared memory begins.
void* dynamic_shared();

}  // namespace convfilt::lesson

template <class T>
T __shfl_sync(unsigned, T value, int from, int width = warpSize) {
  const int lane = convfilt::lesson::lane();
  return convfilt::lesson::exchange(value, lane / width * width + from % width);
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

// Threads of a block run one after the other between barriers, so these need nothing more; accesses
// by them are no races.
namespace convfilt::lesson {
void begin_atomic();
void end_atomic();
}  // namespace convfilt::lesson
template <class T, class U>
T atomicAdd(T* to, U value) {
  convfilt::lesson::begin_atomic();
  const T before = *to;
  *to = T(before + value);
  convfilt::lesson::end_atomic();
  return before;
}
template <class T, class U>
T atomicMax(T* to, U value) {
  convfilt::lesson::begin_atomic();
  const T before = *to;
  if (T(value) > before) *to = T(value);
  convfilt::lesson::end_atomic();
  return before;
}
template <class T, class U>
T atomicMin(T* to, U value) {
  convfilt::lesson::begin_atomic();
  const T before = *to;
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
  convfilt::lesson::begin_atomic();
  const T before = *to;
  *to = T(value);
  convfilt::lesson::end_atomic();
  return before;
}
template <class T>
T atomicCAS(T* to, T expected, T value) {
  convfilt::lesson::begin_atomic();
  const T before = *to;
  if (before == expected) *to = value;
  convfilt::lesson::end_atomic();
  return before;
}

template <class T>
T __ldg(const T* from) {
  return *from;
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float rsqrtf(float a) {
  return 1.0f / std::sqrt(a);
}
inline int __mul24(int a, int b) {
  return a * b;
}
template <class T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}
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
LESSON_VECTORS(unsigned, uint)
#undef LESSON_VECTORS

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)
// The linker says where such a section begins and ends.
#define __shared__ static __attribute__((section("lesson_shared")))
#define __constant__ static __attribute__((section("lesson_constant"), used))
