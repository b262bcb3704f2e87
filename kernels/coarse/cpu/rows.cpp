#include "kernels/coarse/cpu/rows.hpp"

#include <algorithm>

#include "kernels/coarse/axis.hpp"
#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/coarse/cpu/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Vector = hn::Vec<Lanes>;
constexpr Lanes df;
using LinesTag = hn::CappedTag<float, kLines>;
constexpr LinesTag dl;

constexpr int kCellVectors = 2;                               // times three nodes
constexpr int kLineVectors = HWY_TARGET == HWY_AVX2 ? 4 : 8;  // and as many sums of chains

HWY_INLINE int lanes() {
  return int(hn::Lanes(df));
}

void add_cell_rows(const float* down, const float* const* rows, int step, int n,
                   float* const* nodes) {
  for (int x = 0; x < n; x += kCellVectors * lanes()) {
    Vector sums[kCoarseOrder][kCellVectors];
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kCoarseOrder; ++k) CONVFILT_UNROLL_ALL
    for (int v = 0; v < kCellVectors; ++v)
      sums[k][v] = nodes[k] ? hn::LoadU(df, nodes[k] + x + v * lanes()) : hn::Zero(df);
    for (int begin = 0; begin < step; begin += kDownChain) {
      Vector chains[kCoarseOrder][kCellVectors];
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kCoarseOrder; ++k) CONVFILT_UNROLL_ALL
      for (int v = 0; v < kCellVectors; ++v) chains[k][v] = hn::Zero(df);
      for (int t = begin; t < step && t < begin + kDownChain; ++t) {
        Vector samples[kCellVectors];
        CONVFILT_UNROLL_ALL
        for (int v = 0; v < kCellVectors; ++v)
          samples[v] = hn::LoadU(df, rows[t] + x + v * lanes());
        CONVFILT_UNROLL_ALL
        for (int k = 0; k < kCoarseOrder; ++k) {
          const Vector weight = hn::Set(df, down[(kCoarseOrder - 1 - k) * step + t]);
          CONVFILT_UNROLL_ALL
          for (int v = 0; v < kCellVectors; ++v)
            chains[k][v] = hn::MulAdd(weight, samples[v], chains[k][v]);
        }
      }
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kCoarseOrder; ++k) CONVFILT_UNROLL_ALL
      for (int v = 0; v < kCellVectors; ++v) sums[k][v] = hn::Add(sums[k][v], chains[k][v]);
    }
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kCoarseOrder; ++k) {
      if (!nodes[k]) continue;
      CONVFILT_UNROLL_ALL
      for (int v = 0; v < kCellVectors; ++v) hn::StoreU(sums[k][v], df, nodes[k] + x + v * lanes());
    }
  }
}

// kVectors vectors of sums at x, in chains; source(i) is where tap i reads.
template <int kVectors, class Source>
HWY_INLINE void sum_at(const float* line, int taps, Source source, float* out) {
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
HWY_INLINE void sum_row(const float* line, int taps, int n, Source source, float* out) {
  int x = 0;
  for (; x + kLineVectors * lanes() <= n; x += kLineVectors * lanes())
    sum_at<kLineVectors>(
        line, taps, [&](int i) HWY_ATTR { return source(i) + x; }, out + x);
  for (; x + 2 * lanes() <= n; x += 2 * lanes())
    sum_at<2>(
        line, taps, [&](int i) HWY_ATTR { return source(i) + x; }, out + x);
  for (; x < n; x += lanes())
    sum_at<1>(
        line, taps, [&](int i) HWY_ATTR { return source(i) + x; }, out + x);
}

void sum_row_along(const float* line, int taps, const float* in, int step, int n, float* out) {
  sum_row(
      line, taps, n, [&](int i) HWY_ATTR { return in + std::ptrdiff_t(i) * step; }, out);
}

void sum_rows_across(const float* line, int taps, const float* const* rows, int n, float* out) {
  sum_row(
      line, taps, n, [&](int i) HWY_ATTR { return rows[i]; }, out);
}

void line_nodes(const float* down, const float* lines, int channels, int step, int nodes,
                float* out, std::ptrdiff_t stride) {
  const int width = int(hn::Lanes(dl));
  const std::ptrdiff_t pixel = std::ptrdiff_t(channels) * kLineStep, cell = step * pixel;
  for (int node = 0; node < nodes; node += kNodesAtOnce) {
    for (int at = 0; at < pixel; at += width) {
      const float* const from = lines + node * cell + at;
      hn::Vec<LinesTag> sums[kNodesAtOnce];
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < kNodesAtOnce; ++k) sums[k] = hn::Zero(dl);
      for (int first = 0; first < kCoarseOrder * step; first += step) {
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
  for (int k = 0; k < kCoarseOrder; ++k) {
    const Vector node = hn::GatherIndex(df, nodes + k * between.channels, places);
    sum = hn::MulAdd(hn::LoadU(df, between.weights[k] + x), node, sum);
  }
  return sum;
}

void subtract_from_row(const Between& between, const float* nodes, int n, float* row) {
  for (int x = 0; x < n; x += lanes()) {
    const Vector less = between_nodes(between, nodes, x, hn::Neg(hn::LoadU(df, row + x)));
    hn::StoreU(hn::Neg(less), df, row + x);
  }
}

void interpolate(const float* back, const float* const* rows, const Between& between,
                 const float* nodes, int n, float* out) {
  for (int x = 0; x < n; x += lanes()) {
    Vector sum = hn::Zero(df);
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kCoarseOrder; ++k)
      sum = hn::MulAdd(hn::Set(df, back[k]), hn::LoadU(df, rows[k] + x), sum);
    hn::StoreU(between_nodes(between, nodes, x, sum), df, out + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {

HWY_EXPORT(add_cell_rows);
HWY_EXPORT(sum_row_along);
HWY_EXPORT(sum_rows_across);
HWY_EXPORT(line_nodes);
HWY_EXPORT(subtract_from_row);
HWY_EXPORT(interpolate);

void add_cell(const std::vector<float>& down, const float* const* rows, int step, int n,
              float* const* nodes) {
  HWY_DYNAMIC_DISPATCH(add_cell_rows)(down.data(), rows, step, n, nodes);
}

void sum_along(const std::vector<float>& line, const float* in, int step, int n, float* out) {
  HWY_DYNAMIC_DISPATCH(sum_row_along)(line.data(), int(line.size()), in, step, n, out);
}

void sum_across(const std::vector<float>& line, const float* const* rows, int n, float* out) {
  HWY_DYNAMIC_DISPATCH(sum_rows_across)(line.data(), int(line.size()), rows, n, out);
}

void nodes_of_lines(const std::vector<float>& down, const float* lines, int channels, int step,
                    int nodes, float* out, std::ptrdiff_t stride) {
  HWY_DYNAMIC_DISPATCH(line_nodes)(down.data(), lines, channels, step, nodes, out, stride);
}

void subtract_nodes(const Between& between, const float* nodes, int n, float* row) {
  HWY_DYNAMIC_DISPATCH(subtract_from_row)(between, nodes, n, row);
}

void interpolate_row(const float (&back)[3], const float* const* rows, const Between& between,
                     const float* nodes, int n, float* out) {
  HWY_DYNAMIC_DISPATCH(interpolate)(back, rows, between, nodes, n, out);
}

}  // namespace convfilt::cpu
#endif
