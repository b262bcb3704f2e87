// The steps of a transform (Cooley and Tukey 1965, in the order of Stockham; Swarztrauber, "FFT
// algorithms for vector computers", 1984).
//
//   A step of radix r takes r numbers, length / r apart, transforms them, turns output k by the
//   k-th power of a root of unity, and writes them `stride` apart. All lines do the same, so
//   nothing is ever shuffled within a vector.
//
//   Operations per number: 8.5 for each radix 4, e.g. 43 for 1024 numbers.

#include "cpu/line_fft.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/line_fft.cpp"
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

HWY_INLINE Number add(Number a, Number b) {
  return {hn::Add(a.x, b.x), hn::Add(a.y, b.y)};
}
HWY_INLINE Number subtract(Number a, Number b) {
  return {hn::Sub(a.x, b.x), hn::Sub(a.y, b.y)};
}
HWY_INLINE Number over_i(Number a) {
  return {a.y, hn::Neg(a.x)};
}
HWY_INLINE Number scaled_sum(float factor, Number a, Number sum) {
  const Vector f = hn::Set(df, factor);
  return {hn::MulAdd(f, a.x, sum.x), hn::MulAdd(f, a.y, sum.y)};
}
HWY_INLINE Number turned(Number a, Complex root) {
  const Vector x = hn::Set(df, root.x), y = hn::Set(df, root.y);
  return {hn::NegMulAdd(a.y, y, hn::Mul(a.x, x)), hn::MulAdd(a.x, y, hn::Mul(a.y, x))};
}
HWY_INLINE Number load(const float* from) {
  return {hn::Load(df, from), hn::Load(df, from + kFftPart)};
}
HWY_INLINE void store(Number a, float* to) {
  hn::Store(a.x, df, to);
  hn::Store(a.y, df, to + kFftPart);
}

// cos and sin of 2 pi k / r, k up to (r - 1) / 2.
template <int r>
struct Turn;
template <>
struct Turn<3> {
  static constexpr double cosine[] = {1, -0.5}, sine[] = {0, 0.86602540378443864676};
};
template <>
struct Turn<5> {
  static constexpr double cosine[] = {1, 0.30901699437494742410, -0.80901699437494742410};
  static constexpr double sine[] = {0, 0.95105651629515357212, 0.58778525229247312917};
};
template <>
struct Turn<7> {
  static constexpr double cosine[] = {1, 0.62348980185873353053, -0.22252093395631440429,
                                      -0.90096886790241912624};
  static constexpr double sine[] = {0, 0.78183148246802980871, 0.97492791218182360702,
                                    0.43388373911755812048};
};

HWY_INLINE void transform(Number (&a)[2]) {
  const Number sum = add(a[0], a[1]);
  a[1] = subtract(a[0], a[1]);
  a[0] = sum;
}

HWY_INLINE void transform(Number (&a)[4]) {
  const Number even = add(a[0], a[2]), even_less = subtract(a[0], a[2]);
  const Number odd = add(a[1], a[3]), odd_less = over_i(subtract(a[1], a[3]));
  a[0] = add(even, odd);
  a[1] = add(even_less, odd_less);
  a[2] = subtract(even, odd);
  a[3] = subtract(even_less, odd_less);
}

// Outputs j and r - j are made of the same sums and differences of inputs k and r - k.
template <int r>
HWY_INLINE void transform(Number (&a)[r]) {
  constexpr int kHalf = r / 2;
  Number sums[kHalf + 1], differences[kHalf + 1], total = a[0];
  CONVFILT_UNROLL_ALL
  for (int k = 1; k <= kHalf; ++k) {
    sums[k] = add(a[k], a[r - k]);
    differences[k] = over_i(subtract(a[k], a[r - k]));
    total = add(total, sums[k]);
  }
  const Number first = a[0];
  a[0] = total;
  CONVFILT_UNROLL_ALL
  for (int j = 1; j <= kHalf; ++j) {
    Number common = first, other = {hn::Zero(df), hn::Zero(df)};
    CONVFILT_UNROLL_ALL
    for (int k = 1; k <= kHalf; ++k) {
      const int at = j * k % r, place = at > kHalf ? r - at : at;
      const double sine = at > kHalf ? -Turn<r>::sine[place] : Turn<r>::sine[place];
      common = scaled_sum(float(Turn<r>::cosine[place]), sums[k], common);
      other = scaled_sum(float(sine), differences[k], other);
    }
    a[j] = add(common, other);
    a[r - j] = subtract(common, other);
  }
}

template <int r>
void step_of(const float* from, float* to, int stride, int groups, const Complex* roots) {
  const std::ptrdiff_t apart = std::ptrdiff_t(stride) * groups * kFftStep;
  const std::ptrdiff_t next = std::ptrdiff_t(stride) * kFftStep;
  const int lanes = int(hn::Lanes(df));
  for (int p = 0; p < groups; ++p, roots += r - 1, to += (r - 1) * next) {
    for (int q = 0; q < stride; ++q, from += kFftStep, to += kFftStep) {
      for (int v = 0; v < kFftLines; v += lanes) {
        Number a[r];
        CONVFILT_UNROLL_ALL
        for (int k = 0; k < r; ++k) a[k] = load(from + v + k * apart);
        transform(a);
        store(a[0], to + v);
        CONVFILT_UNROLL_ALL
        for (int k = 1; k < r; ++k) store(turned(a[k], roots[k - 1]), to + v + k * next);
      }
    }
  }
}

// Of other radices, as the sums say.
void step_of_any(int radix, const float* from, float* to, int stride, int groups,
                 const Complex* roots) {
  const std::ptrdiff_t apart = std::ptrdiff_t(stride) * groups * kFftStep;
  const std::ptrdiff_t next = std::ptrdiff_t(stride) * kFftStep;
  const int lanes = int(hn::Lanes(df));
  const Complex* const turns = roots + std::ptrdiff_t(groups) * (radix - 1);
  for (int p = 0; p < groups; ++p, roots += radix - 1) {
    for (int q = 0; q < stride; ++q) {
      for (int v = 0; v < kFftLines; v += lanes) {
        const float* const first = from + (std::ptrdiff_t(p) * stride + q) * kFftStep + v;
        float* const out = to + (std::ptrdiff_t(p) * stride * radix + q) * kFftStep + v;
        for (int j = 0; j < radix; ++j) {
          Number sum = load(first);
          for (int k = 1; k < radix; ++k)
            sum = add(sum, turned(load(first + k * apart), turns[j * k % radix]));
          store(j == 0 ? sum : turned(sum, roots[j - 1]), out + j * next);
        }
      }
    }
  }
}

void run_step(int radix, int stride, int groups, const Complex* roots, const float* from,
              float* to) {
  switch (radix) {
    case 2: return step_of<2>(from, to, stride, groups, roots);
    case 3: return step_of<3>(from, to, stride, groups, roots);
    case 4: return step_of<4>(from, to, stride, groups, roots);
    case 5: return step_of<5>(from, to, stride, groups, roots);
    case 7: return step_of<7>(from, to, stride, groups, roots);
    default: return step_of_any(radix, from, to, stride, groups, roots);
  }
}

void multiply(const float* mask, int length, float* lines) {
  const int lanes = int(hn::Lanes(df));
  for (int x = 0; x < length; ++x, mask += kFftStep, lines += kFftStep) {
    for (int v = 0; v < kFftLines; v += lanes) {
      const Number a = load(lines + v), b = load(mask + v);
      store({hn::NegMulAdd(a.x, b.y, hn::Mul(a.y, b.x)), hn::MulAdd(a.y, b.y, hn::Mul(a.x, b.x))},
            lines + v);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {

HWY_EXPORT(run_step);
HWY_EXPORT(multiply);

LineFft::LineFft(int length) : length_(length) {
  const auto root = [](std::int64_t k, int n) {
    const double turn = -2 * std::numbers::pi * double(k % n) / n;
    return Complex{float(std::cos(turn)), float(std::sin(turn))};
  };
  int rest = length, stride = 1;
  for (int radix : {4, 2, 3, 5, 7, 0}) {
    while (rest > 1 && (radix == 0 || rest % radix == 0)) {
      int r = radix;
      for (r = r == 0 ? 11 : r; rest % r != 0;) r += 2;
      const int groups = rest / r;
      steps_.push_back({r, stride, groups, roots_.size()});
      for (int p = 0; p < groups; ++p)
        for (int k = 1; k < r; ++k) roots_.push_back(root(std::int64_t(p) * k, rest));
      for (int k = 0; radix == 0 && k < r; ++k) roots_.push_back(root(k, r));
      rest = groups;
      stride *= r;
    }
  }
}

float* LineFft::run(float* lines, float* other) const {
  for (const Step& step : steps_) {
    HWY_DYNAMIC_DISPATCH(run_step)
    (step.radix, step.stride, step.groups, &roots_[step.roots], lines, other);
    std::swap(lines, other);
  }
  return lines;
}

void LineFft::multiply_conjugate_swapped(const float* mask, float* lines) const {
  HWY_DYNAMIC_DISPATCH(multiply)(mask, length_, lines);
}

}  // namespace convfilt::cpu
#endif
