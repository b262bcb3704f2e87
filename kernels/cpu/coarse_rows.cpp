#include "kernels/cpu/coarse_rows.hpp"

#include <algorithm>
#include <tuple>

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

template <class D>
HWY_INLINE hn::Vec<D> load_samples(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D, class T>
HWY_INLINE hn::Vec<D> load_samples(D d, const T* from) {
  const hn::Rebind<T, D> narrow;
  const hn::Rebind<std::int32_t, D> wide;
  return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(narrow, from)));
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

// Rows are turned in square blocks of 16 bytes a row, in registers.
template <class T>
constexpr int kBlock = HWY_TARGET == HWY_SCALAR ? 1 : 16 / int(sizeof(T));
template <class T>
using BlockTag = hn::FixedTag<T, kBlock<T>>;
template <class T>
using Block = hn::Vec<BlockTag<T>>[kBlock<T>];

template <class T>
HWY_INLINE void transpose([[maybe_unused]] Block<T>& a) {
#if HWY_TARGET != HWY_SCALAR
  constexpr BlockTag<T> d;
  // Each round deals the rows of the block's two halves out in turn.
  CONVFILT_UNROLL_ALL
  for (int round = 1; round < kBlock<T>; round *= 2) {
    Block<T> dealt;
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kBlock<T> / 2; ++k) {
      dealt[2 * k] = hn::InterleaveLower(d, a[k], a[k + kBlock<T> / 2]);
      dealt[2 * k + 1] = hn::InterleaveUpper(d, a[k], a[k + kBlock<T> / 2]);
    }
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kBlock<T>; ++k) a[k] = dealt[k];
  }
#endif
}

template <class T>
void lines_from_rows(const T* const* rows, int length, T* lines) {
  constexpr BlockTag<T> d;
  for (int r = 0; r < kLineStep; r += kBlock<T>) {
    for (int x = 0; x < length; x += kBlock<T>) {
      Block<T> a;
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kBlock<T>; ++k) a[k] = hn::LoadU(d, rows[r + k] + x);
      transpose<T>(a);
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kBlock<T>; ++k) hn::StoreU(a[k], d, lines + (x + k) * kLineStep + r);
    }
  }
}

void rows_from_lines(const float* lines, int length, std::ptrdiff_t stride, float* samples) {
  constexpr BlockTag<float> d;
  for (int r = 0; r < kLineStep; r += kBlock<float>) {
    for (int x = 0; x < length; x += kBlock<float>) {
      Block<float> a;
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kBlock<float>; ++k) a[k] = hn::LoadU(d, lines + (x + k) * kLineStep + r);
      transpose<float>(a);
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kBlock<float>; ++k) hn::StoreU(a[k], d, samples + (r + k) * stride + x);
    }
  }
}

using LinesTag = hn::CappedTag<float, 16>;
constexpr LinesTag dl;

constexpr int kCellVectors = 2;                               // for each of three nodes
constexpr int kLineVectors = HWY_TARGET == HWY_AVX2 ? 4 : 8;  // of chains, and as many of sums

HWY_INLINE int lanes() {
  return int(hn::Lanes(df));
}

template <class T>
void add_cell(const std::vector<float>& down, const T* const* rows, float centre, int step, int n,
              float* const* nodes) {
  const Vector less = hn::Set(df, centre);
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
          samples[v] = hn::Sub(load_samples(df, rows[t] + x + v * lanes()), less);
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

template <class T>
void nodes_of_lines(const std::vector<float>& down, const T* lines, float centre, int channels,
                    int step, int nodes, float* out, std::ptrdiff_t stride) {
  const auto less = hn::Set(dl, centre);
  const int width = int(hn::Lanes(dl));
  const std::ptrdiff_t pixel = std::ptrdiff_t(channels) * kLineStep, cell = step * pixel;
  for (int node = 0; node < nodes; node += kNodesAtOnce) {
    for (int at = 0; at < pixel; at += width) {
      const T* const from = lines + node * cell + at;
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
              chains[k] = hn::MulAdd(
                  weight, hn::Sub(load_samples(dl, from + k * cell + t * pixel), less), chains[k]);
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

// Calls f(x, sum) for each vector of [begin, end), where sum(start) adds to `start` what nodes
// give.
template <class F>
HWY_INLINE void between_nodes(const Between& between, const float* nodes, int begin, int end, F f) {
  const int channels = between.channels;
  const hn::Rebind<std::int32_t, Lanes> di;
  const auto each = [&](auto node_of) HWY_ATTR {
    for (int x = begin; x < end; x += lanes()) {
      f(x, [&, places = hn::LoadU(di, between.places + x)](Vector sum) HWY_ATTR {
        CONVFILT_UNROLL_ALL
        for (int k = 0; k < kOrder; ++k)
          sum = hn::MulAdd(hn::LoadU(df, between.weights[k] + x),
                           node_of(nodes + k * channels, places, x), sum);
        return sum;
      });
    }
  };
  // Where the nodes of a vector's places fit in a vector, a permutation is faster than a gather.
  const int pixels = (lanes() + channels - 2) / channels + 1;
  if ((pixels + 2 * between.step - 2) / between.step * channels <= lanes()) {
    each([&](const float* from, auto places, int x) HWY_ATTR {
      const int first = between.places[x] - x % channels;
      return hn::TableLookupLanes(hn::LoadU(df, from + first),
                                  hn::IndicesFromVec(df, hn::Sub(places, hn::Set(di, first))));
    });
  } else {
    each([](const float* from, auto places, int)
             HWY_ATTR { return hn::GatherIndex(df, from, places); });
  }
}

void subtract_nodes(const Between& between, const float* nodes, int n, float* row) {
  between_nodes(between, nodes, 0, n, [&](int x, auto add_nodes) HWY_ATTR {
    hn::StoreU(hn::Neg(add_nodes(hn::Neg(hn::LoadU(df, row + x)))), df, row + x);
  });
}

template <class T>
void interpolate_row(const float (&back)[kOrder], const float* const* rows, const Between& between,
                     const float* nodes, const FloatFinish& finish, int begin, int end, T* out) {
  between_nodes(between, nodes, begin, end, [&](int x, auto add_nodes) HWY_ATTR {
    Vector sum = hn::Zero(df);
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kOrder; ++k)
      sum = hn::MulAdd(hn::Set(df, back[k]), hn::LoadU(df, rows[k] + x), sum);
    store_samples(hn::MulAdd(add_nodes(sum), hn::Set(df, finish.scale), hn::Set(df, finish.offset)),
                  out + (x - begin));
  });
}

template <class T>
RowLoops<T> loops_of() {
  return {lines_from_rows<T>, rows_from_lines,   add_cell<T>,    sum_along,
          sum_across,         nodes_of_lines<T>, subtract_nodes, interpolate_row<T>};
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
