// Blocks of four by four numbers are turned in registers.

#include "cpu/fft_lines.hpp"

#include <utility>

#include "cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/fft_lines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kFftLines>;
using Vector = hn::Vec<Lanes>;
constexpr Lanes df;

struct Number {
  Vector x, y;
};
HWY_INLINE Number load(const float* from) {
  return {hn::Load(df, from), hn::Load(df, from + kFftPart)};
}
HWY_INLINE void store(Number a, float* to) {
  hn::Store(a.x, df, to);
  hn::Store(a.y, df, to + kFftPart);
}

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
HWY_INLINE void load_pairs(const float* from, FourVector& x, FourVector& y) {
  for (int k = 0; k < 4; ++k) x.samples[k] = from[2 * k], y.samples[k] = from[2 * k + 1];
}
HWY_INLINE void store_pairs(const FourVector& x, const FourVector& y, float* to) {
  for (int k = 0; k < 4; ++k) to[2 * k] = x.samples[k], to[2 * k + 1] = y.samples[k];
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
HWY_INLINE void load_pairs(const float* from, FourVector& x, FourVector& y) {
  hn::LoadInterleaved2(d4, from, x, y);
}
HWY_INLINE void store_pairs(FourVector x, FourVector y, float* to) {
  hn::StoreInterleaved2(x, y, d4, to);
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
  for (int r = 0; r < kFftLines; r += 4) {
    const float* const from = samples + r * stride;
    int x = 0;
    for (; r + 4 <= rows && x + 4 <= length; x += 4) {
      FourVector a[4];
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 4; ++k) a[k] = load4(from + k * stride + x);
      transpose(a);
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 4; ++k) store4(a[k], lines + (x + k) * kFftStep + r);
    }
    for (; x < length; ++x)
      for (int k = 0; k < 4; ++k)
        lines[x * kFftStep + r + k] = r + k < rows ? from[k * stride + x] : 0.0f;
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
      for (int k = 0; k < 4; ++k) a[k] = load4(lines + (x + k) * kFftStep + r);
      transpose(a);
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 4; ++k) store4(a[k], to + k * stride + x);
    }
    for (; x < length; ++x)
      for (int k = 0; k < 4 && r + k < rows; ++k) to[k * stride + x] = lines[x * kFftStep + r + k];
  }
}

// Lines' numbers at x and at length - x are those of the two real lines' spectra, added and
// subtracted. `to` gets the first's parts, then the second's.
HWY_INLINE void split_at(const float* lines, int length, int x, float* to) {
  const float* const a = lines + std::ptrdiff_t(x) * kFftStep;
  const float* const b = lines + std::ptrdiff_t(x == 0 ? 0 : length - x) * kFftStep;
  const Vector half = hn::Set(df, 0.5f);
  const int lanes = int(hn::Lanes(df));
  for (int v = 0; v < kFftLines; v += lanes) {
    const Number here = load(a + v), there = load(b + v);
    hn::Store(hn::Mul(half, hn::Add(here.x, there.x)), df, to + v);
    hn::Store(hn::Mul(half, hn::Sub(here.y, there.y)), df, to + kFftLines + v);
    hn::Store(hn::Mul(half, hn::Add(here.y, there.y)), df, to + 2 * kFftLines + v);
    hn::Store(hn::Mul(half, hn::Sub(there.x, here.x)), df, to + 3 * kFftLines + v);
  }
}

// Four numbers of each of four lines, as rows of complex numbers.
HWY_INLINE void store_numbers(const float (&parts)[4][4 * kFftLines], int which, int r, int rows,
                              int count, std::ptrdiff_t stride, Complex* to) {
  FourVector x[4], y[4];
  for (int k = 0; k < 4; ++k) {
    x[k] = load4(parts[k] + which * 2 * kFftLines + r);
    y[k] = load4(parts[k] + which * 2 * kFftLines + kFftLines + r);
  }
  transpose(x);
  transpose(y);
  for (int k = 0; k < 4 && r + k < rows; ++k) {
    HWY_ALIGN float numbers[8];
    store_pairs(x[k], y[k], count == 4 ? reinterpret_cast<float*>(to + k * stride) : numbers);
    for (int n = 0; n < count && count < 4; ++n)
      to[k * stride + n] = {numbers[2 * n], numbers[2 * n + 1]};
  }
}

void split(const float* lines, int length, int rows, Complex* spectra) {
  const int half = length / 2 + 1;
  HWY_ALIGN float parts[4][4 * kFftLines];
  for (int x = 0; x < half; x += 4) {
    const int count = half - x < 4 ? half - x : 4;
    for (int k = 0; k < count; ++k) split_at(lines, length, x + k, parts[k]);
    for (int which = 0; which < 2; ++which) {
      const int of_these = rows - which * kFftLines;
      for (int r = 0; r < kFftLines && r < of_these; r += 4) {
        store_numbers(parts, which, r, of_these, count, half,
                      spectra + std::ptrdiff_t(which * kFftLines + r) * half + x);
      }
    }
  }
}

HWY_INLINE void load_numbers(const Complex* from, std::ptrdiff_t stride, int r, int rows, int count,
                             int which, float (&parts)[4][4 * kFftLines]) {
  FourVector x[4], y[4];
  for (int k = 0; k < 4; ++k) {
    if (r + k < rows && count == 4) {
      load_pairs(reinterpret_cast<const float*>(from + k * stride), x[k], y[k]);
    } else {
      HWY_ALIGN float numbers[8] = {};
      for (int n = 0; n < count && r + k < rows; ++n) {
        numbers[2 * n] = from[k * stride + n].x;
        numbers[2 * n + 1] = from[k * stride + n].y;
      }
      load_pairs(numbers, x[k], y[k]);
    }
  }
  transpose(x);
  transpose(y);
  for (int k = 0; k < 4; ++k) {
    store4(x[k], parts[k] + which * 2 * kFftLines + r);
    store4(y[k], parts[k] + which * 2 * kFftLines + kFftLines + r);
  }
}

// The first's number plus i times the second's, and at length - x of their conjugates. Parts are
// swapped.
HWY_INLINE void join_at(const float* parts, int length, int x, float* lines) {
  float* const a = lines + std::ptrdiff_t(x) * kFftStep;
  float* const b = lines + std::ptrdiff_t(x == 0 ? 0 : length - x) * kFftStep;
  const int lanes = int(hn::Lanes(df));
  for (int v = 0; v < kFftLines; v += lanes) {
    const Number first = load(parts + v), second = load(parts + 2 * kFftLines + v);
    store({hn::Sub(second.x, first.y), hn::Add(first.x, second.y)}, b + v);
    store({hn::Add(first.y, second.x), hn::Sub(first.x, second.y)}, a + v);
  }
}

void join(const Complex* spectra, int rows, int length, float* lines) {
  const int half = length / 2 + 1;
  HWY_ALIGN float parts[4][4 * kFftLines];
  for (int x = 0; x < half; x += 4) {
    const int count = half - x < 4 ? half - x : 4;
    for (int which = 0; which < 2; ++which) {
      const int of_these = rows - which * kFftLines;
      for (int r = 0; r < kFftLines; r += 4) {
        load_numbers(spectra + std::ptrdiff_t(which * kFftLines + r) * half + x, half, r, of_these,
                     count, which, parts);
      }
    }
    for (int k = 0; k < count; ++k) join_at(parts[k], length, x + k, lines);
  }
}

void columns_to_lines(const Complex* numbers, std::ptrdiff_t stride, int columns, int length,
                      int first, int second, float* lines) {
  const int lanes = int(hn::Lanes(df));
  for (int y = 0; y < length; ++y, numbers += stride, lines += kFftStep) {
    if (columns == kFftLines) {
      for (int v = 0; v < kFftLines; v += lanes) {
        Vector a, b;
        hn::LoadInterleaved2(df, reinterpret_cast<const float*>(numbers + v), a, b);
        hn::Store(a, df, lines + first + v);
        hn::Store(b, df, lines + second + v);
      }
    } else {
      for (int v = 0; v < kFftLines; ++v) {
        lines[first + v] = v < columns ? numbers[v].x : 0.0f;
        lines[second + v] = v < columns ? numbers[v].y : 0.0f;
      }
    }
  }
}

void lines_to_columns(const float* lines, int first, int second, int length, int columns,
                      std::ptrdiff_t stride, Complex* numbers) {
  const int lanes = int(hn::Lanes(df));
  for (int y = 0; y < length; ++y, numbers += stride, lines += kFftStep) {
    if (columns == kFftLines) {
      for (int v = 0; v < kFftLines; v += lanes) {
        hn::StoreInterleaved2(hn::Load(df, lines + first + v), hn::Load(df, lines + second + v), df,
                              reinterpret_cast<float*>(numbers + v));
      }
    } else {
      for (int v = 0; v < columns; ++v) numbers[v] = {lines[first + v], lines[second + v]};
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {

HWY_EXPORT(rows_to_lines);
HWY_EXPORT(lines_to_rows);
HWY_EXPORT(split);
HWY_EXPORT(join);
HWY_EXPORT(columns_to_lines);
HWY_EXPORT(lines_to_columns);

void lines_from_rows(const float* samples, std::ptrdiff_t stride, int rows, int length, int at,
                     float* lines) {
  HWY_DYNAMIC_DISPATCH(rows_to_lines)(samples, stride, rows, length, lines + at);
}

void rows_from_lines(const float* lines, int at, int length, int rows, std::ptrdiff_t stride,
                     float* samples) {
  HWY_DYNAMIC_DISPATCH(lines_to_rows)(lines + at, length, rows, stride, samples);
}

void split_spectra(const float* lines, int length, int rows, Complex* spectra) {
  HWY_DYNAMIC_DISPATCH(split)(lines, length, rows, spectra);
}

void join_spectra(const Complex* spectra, int rows, int length, float* lines) {
  HWY_DYNAMIC_DISPATCH(join)(spectra, rows, length, lines);
}

void lines_from_columns(const Complex* numbers, std::ptrdiff_t stride, int columns, int length,
                        bool swapped, float* lines) {
  HWY_DYNAMIC_DISPATCH(columns_to_lines)
  (numbers, stride, columns, length, swapped ? kFftPart : 0, swapped ? 0 : kFftPart, lines);
}

void columns_from_lines(const float* lines, bool swapped, int length, int columns,
                        std::ptrdiff_t stride, Complex* numbers) {
  HWY_DYNAMIC_DISPATCH(lines_to_columns)
  (lines, swapped ? kFftPart : 0, swapped ? 0 : kFftPart, length, columns, stride, numbers);
}

}  // namespace convfilt::cpu
#endif
