#include "kernels/cpu/coarse_rows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/coarse/mask.hpp"
#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/coarse_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt::coarse {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Vector = hn::Vec<Lanes>;
constexpr Lanes df;

HWY_INLINE Vector load_samples(const float* from) {
  return hn::LoadU(df, from);
}
template <class T>
HWY_INLINE Vector load_samples(const T* from) {
  const hn::Rebind<T, Lanes> narrow;
  const hn::Rebind<std::int32_t, Lanes> wide;
  return hn::ConvertTo(df, hn::PromoteTo(wide, hn::LoadU(narrow, from)));
}

HWY_INLINE void store_samples(Vector value, float* to) {
  hn::StoreU(hn::IfThenElse(hn::Eq(value, value), value, hn::Set(df, __builtin_nanf(""))), df, to);
}
template <class T>
HWY_INLINE void store_samples(Vector value, T* to) {
  const Vector positive = hn::IfThenElseZero(hn::Gt(value, hn::Zero(df)), value);  // NaN becomes 0
  const Vector within = hn::Min(positive, hn::Set(df, float(T(-1))));
  const hn::Rebind<T, Lanes> narrow;
  hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(within)), narrow, to);
}

template <class T>
void centre_row(const T* samples, int n, float centre, float* out) {
  const int lanes = int(hn::Lanes(df));
  for (int x = 0; x < n; x += lanes)
    hn::StoreU(hn::Sub(load_samples(samples + x), hn::Set(df, centre)), df, out + x);
}

template <class T>
void finish_row(const FloatFinish& finish, const float* sums, int n, T* out) {
  const int lanes = int(hn::Lanes(df));
  const Vector scale = hn::Set(df, finish.scale), offset = hn::Set(df, finish.offset);
  for (int x = 0; x < n; x += lanes)
    store_samples(hn::MulAdd(hn::LoadU(df, sums + x), scale, offset), out + x);
}

// Rows are turned in blocks of four by four numbers, in registers.
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

void lines_from_rows(const float* samples, std::ptrdiff_t stride, int rows, int length,
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

void rows_from_lines(const float* lines, int length, int rows, std::ptrdiff_t stride,
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

using LinesTag = hn::CappedTag<float, kLines>;
constexpr LinesTag dl;

constexpr int kCellVectors = 2;                               // for each of three nodes
constexpr int kLineVectors = HWY_TARGET == HWY_AVX2 ? 4 : 8;  // of chains, and as many of sums

HWY_INLINE int lanes() {
  return int(hn::Lanes(df));
}

void add_cell(const std::vector<float>& down, const float* const* rows, int step, int n,
              float* const* nodes) {
  for (int x = 0; x < n; x += kCellVectors * lanes()) {
    Vector sums[kOrder][kCellVectors];
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kOrder; ++k) CONVFILT_UNROLL_ALL
    for (int v = 0; v < kCellVectors; ++v)
      sums[k][v] = nodes[k] ? hn::LoadU(df, nodes[k] + x + v * lanes()) : hn::Zero(df);
    for (int begin = 0; begin < step; begin += kDownChain) {
      Vector chains[kOrder][kCellVectors];
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kOrder; ++k) CONVFILT_UNROLL_ALL
      for (int v = 0; v < kCellVectors; ++v) chains[k][v] = hn::Zero(df);
      for (int t = begin; t < step && t < begin + kDownChain; ++t) {
        Vector samples[kCellVectors];
        CONVFILT_UNROLL_ALL
        for (int v = 0; v < kCellVectors; ++v)
          samples[v] = hn::LoadU(df, rows[t] + x + v * lanes());
        CONVFILT_UNROLL_ALL
        for (int k = 0; k < kOrder; ++k) {
          const Vector weight = hn::Set(df, down[(kOrder - 1 - k) * step + t]);
          CONVFILT_UNROLL_ALL
          for (int v = 0; v < kCellVectors; ++v)
            chains[k][v] = hn::MulAdd(weight, samples[v], chains[k][v]);
        }
      }
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kOrder; ++k) CONVFILT_UNROLL_ALL
      for (int v = 0; v < kCellVectors; ++v) sums[k][v] = hn::Add(sums[k][v], chains[k][v]);
    }
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kOrder; ++k) {
      if (!nodes[k]) continue;
      CONVFILT_UNROLL_ALL
      for (int v = 0; v < kCellVectors; ++v) hn::StoreU(sums[k][v], df, nodes[k] + x + v * lanes());
    }
  }
}

// Computes kVectors vectors of sums, in chains. source(i) is the address that tap i reads from.
template <int kVectors, class Source>
HWY_INLINE void sum_at(const std::vector<float>& line, Source source, float* out) {
  const int taps = int(line.size());
  Vector sums[kVectors];
  CONVFILT_UNROLL_ALL
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(df);
  for (int begin = 0; begin < taps; begin += kLineChain) {
    Vector chains[kVectors];
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kVectors; ++v) chains[v] = hn::Zero(df);
    const int end = std::min(taps, begin + kLineChain);
    for (int i = begin; i < end; ++i) {
      const Vector weight = hn::Set(df, line[i]);
      const float* const from = source(i);
      CONVFILT_UNROLL_ALL
      for (int v = 0; v < kVectors; ++v)
        chains[v] = hn::MulAdd(weight, hn::LoadU(df, from + v * lanes()), chains[v]);
    }
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::Add(sums[v], chains[v]);
  }
  CONVFILT_UNROLL_ALL
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], df, out + v * lanes());
}

template <class Source>
HWY_INLINE void sum_row(const std::vector<float>& line, int n, Source source, float* out) {
  int x = 0;
  for (; x + kLineVectors * lanes() <= n; x += kLineVectors * lanes())
    sum_at<kLineVectors>(
        line, [&](int i) HWY_ATTR { return source(i) + x; }, out + x);
  for (; x + 2 * lanes() <= n; x += 2 * lanes())
    sum_at<2>(
        line, [&](int i) HWY_ATTR { return source(i) + x; }, out + x);
  for (; x < n; x += lanes())
    sum_at<1>(
        line, [&](int i) HWY_ATTR { return source(i) + x; }, out + x);
}

void sum_along(const std::vector<float>& line, const float* in, int step, int n, float* out) {
  sum_row(
      line, n, [&](int i) HWY_ATTR { return in + std::ptrdiff_t(i) * step; }, out);
}

void sum_across(const std::vector<float>& line, const float* const* rows, int n, float* out) {
  sum_row(
      line, n, [&](int i) HWY_ATTR { return rows[i]; }, out);
}

void nodes_of_lines(const std::vector<float>& down, const float* lines, int channels, int step,
                    int nodes, float* out, std::ptrdiff_t stride) {
  const int width = int(hn::Lanes(dl));
  const std::ptrdiff_t pixel = std::ptrdiff_t(channels) * kLineStep, cell = step * pixel;
  for (int node = 0; node < nodes; node += kNodesAtOnce) {
    for (int at = 0; at < pixel; at += width) {
      const float* const from = lines + node * cell + at;
      hn::Vec<LinesTag> sums[kNodesAtOnce];
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kNodesAtOnce; ++k) sums[k] = hn::Zero(dl);
      for (int first = 0; first < kOrder * step; first += step) {
        for (int begin = first; begin < first + step; begin += kDownChain) {
          hn::Vec<LinesTag> chains[kNodesAtOnce];
          CONVFILT_UNROLL_ALL
          for (int k = 0; k < kNodesAtOnce; ++k) chains[k] = hn::Zero(dl);
          const int end = std::min(begin + kDownChain, first + step);
          for (int t = begin; t < end; ++t) {
            const auto weight = hn::Set(dl, down[t]);
            CONVFILT_UNROLL_ALL
            for (int k = 0; k < kNodesAtOnce; ++k)
              chains[k] = hn::MulAdd(weight, hn::Load(dl, from + k * cell + t * pixel), chains[k]);
          }
          CONVFILT_UNROLL_ALL
          for (int k = 0; k < kNodesAtOnce; ++k) sums[k] = hn::Add(sums[k], chains[k]);
        }
      }
      float* const to = out + (std::ptrdiff_t(node) * channels + at / kLineStep) * stride;
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kNodesAtOnce; ++k)
        hn::StoreU(sums[k], dl, to + k * channels * stride + at % kLineStep);
    }
  }
}

HWY_INLINE Vector between_nodes(const Between& between, const float* nodes, int x, Vector sum) {
  const hn::Rebind<std::int32_t, Lanes> di;
  const auto places = hn::LoadU(di, between.places + x);
  CONVFILT_UNROLL_ALL
  for (int k = 0; k < kOrder; ++k) {
    const Vector node = hn::GatherIndex(df, nodes + k * between.channels, places);
    sum = hn::MulAdd(hn::LoadU(df, between.weights[k] + x), node, sum);
  }
  return sum;
}

void subtract_nodes(const Between& between, const float* nodes, int n, float* row) {
  for (int x = 0; x < n; x += lanes()) {
    const Vector less = between_nodes(between, nodes, x, hn::Neg(hn::LoadU(df, row + x)));
    hn::StoreU(hn::Neg(less), df, row + x);
  }
}

void interpolate_row(const float (&back)[kOrder], const float* const* rows, const Between& between,
                     const float* nodes, int n, float* out) {
  for (int x = 0; x < n; x += lanes()) {
    Vector sum = hn::Zero(df);
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kOrder; ++k)
      sum = hn::MulAdd(hn::Set(df, back[k]), hn::LoadU(df, rows[k] + x), sum);
    hn::StoreU(between_nodes(between, nodes, x, sum), df, out + x);
  }
}

template <class T>
RowLoops<T> loops_of() {
  return {centre_row<T>, finish_row<T>, lines_from_rows, rows_from_lines, add_cell,
          sum_along,     sum_across,    nodes_of_lines,  subtract_nodes,  interpolate_row};
}

std::tuple<RowLoops<std::uint8_t>, RowLoops<std::uint16_t>, RowLoops<float>> loops() {
  return {loops_of<std::uint8_t>(), loops_of<std::uint16_t>(), loops_of<float>()};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace convfilt::coarse
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::coarse {

HWY_EXPORT(loops);

template <class T>
RowLoops<T> row_loops() {
  return std::get<RowLoops<T>>(HWY_DYNAMIC_DISPATCH(loops)());
}
template RowLoops<std::uint8_t> row_loops();
template RowLoops<std::uint16_t> row_loops();
template RowLoops<float> row_loops();

}  // namespace convfilt::coarse
#endif
