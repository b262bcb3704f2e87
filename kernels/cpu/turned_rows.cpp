// Blocks of four by four numbers are turned in registers.

#include "kernels/cpu/turned_rows.hpp"

#include <utility>

#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/turned_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
struct FourVector {
  float samples[4];
};
HWY_INLINE FourVector load4(const float* from) {
  return {{from[0], from[1], from[2], from[3]}};
}
HWY_INLINE void store4(const FourVector& a, float* to) {
  for (int k = 0; k < 4; ++k) to[k] = a.samples[k];
}
HWY_INLINE void transpose(FourVector (&a)[4]) {
  for (int r = 0; r < 4; ++r)
    for (int k = 0; k < r; ++k) std::swap(a[r].samples[k], a[k].samples[r]);
}
#else
using Four = hn::FixedTag<float, 4>;
using FourVector = hn::Vec<Four>;
constexpr Four d4;

HWY_INLINE FourVector load4(const float* from) {
  return hn::LoadU(d4, from);
}
HWY_INLINE void store4(FourVector a, float* to) {
  hn::StoreU(a, d4, to);
}
HWY_INLINE void transpose(FourVector (&a)[4]) {
  const FourVector x = hn::InterleaveLower(d4, a[0], a[2]), y = hn::InterleaveLower(d4, a[1], a[3]);
  const FourVector z = hn::InterleaveUpper(d4, a[0], a[2]), w = hn::InterleaveUpper(d4, a[1], a[3]);
  a[0] = hn::InterleaveLower(d4, x, y);
  a[1] = hn::InterleaveUpper(d4, x, y);
  a[2] = hn::InterleaveLower(d4, z, w);
  a[3] = hn::InterleaveUpper(d4, z, w);
}

#endif

void rows_to_lines(const float* samples, std::ptrdiff_t stride, int rows, int length,
                   float* lines) {
  for (int r = 0; r < kLines; r += 4) {
    const float* const from = samples + r * stride;
    int x = 0;
    for (; r + 4 <= rows && x + 4 <= length; x += 4) {
      FourVector a[4];
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 4; ++k) a[k] = load4(from + k * stride + x);
      transpose(a);
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 4; ++k) store4(a[k], lines + (x + k) * kLineStep + r);
    }
    for (; x < length; ++x)
      for (int k = 0; k < 4; ++k)
        lines[x * kLineStep + r + k] = r + k < rows ? from[k * stride + x] : 0.0f;
  }
}

void lines_to_rows(const float* lines, int length, int rows, std::ptrdiff_t stride,
                   float* samples) {
  for (int r = 0; r < rows; r += 4) {
    float* const to = samples + r * stride;
    int x = 0;
    for (; r + 4 <= rows && x + 4 <= length; x += 4) {
      FourVector a[4];
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 4; ++k) a[k] = load4(lines + (x + k) * kLineStep + r);
      transpose(a);
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 4; ++k) store4(a[k], to + k * stride + x);
    }
    for (; x < length; ++x)
      for (int k = 0; k < 4 && r + k < rows; ++k) to[k * stride + x] = lines[x * kLineStep + r + k];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {

HWY_EXPORT(rows_to_lines);
HWY_EXPORT(lines_to_rows);

void lines_from_rows(const float* samples, std::ptrdiff_t stride, int rows, int length, int at,
                     float* lines) {
  HWY_DYNAMIC_DISPATCH(rows_to_lines)(samples, stride, rows, length, lines + at);
}

void rows_from_lines(const float* lines, int at, int length, int rows, std::ptrdiff_t stride,
                     float* samples) {
  HWY_DYNAMIC_DISPATCH(lines_to_rows)(lines + at, length, rows, stride, samples);
}

}  // namespace convfilt::cpu
#endif
