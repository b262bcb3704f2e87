#include "src/lab/compare/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/separable.hpp"
#include "src/base/splitmix.hpp"

namespace convfilt {
namespace {

/// Above this many outputs not everything is checked, whatever the mask, since each true result
/// takes 8 bytes.
constexpr double kMostOutputs = 1 << 24;

/// Where not everything is checked, single places may take this many taps, and whole rows as many
/// again. That is a tenth of a second or so each.
constexpr double kSampledTaps = 2e8;
constexpr int kMostRows = 64;
constexpr int kLeastRandom = 64, kMostRandom = 100'000;
constexpr int kCorner = 3;      // pixels a side of the square checked in a corner
constexpr int kAlongEdge = 16;  // places along each edge

int places_in_block(int count) {
  return std::clamp(count / 64, 1, 256);
}

template <class T>
struct Source {
  const Problem& problem;
  PictureView<const std::byte> in;
  double ghost;
  std::vector<int> columns, rows;  ///< what stands in for position k - lead; -1 = the ghost

  const T* row(int y) const { return reinterpret_cast<const T*>(in.row(y)); }

  /// The result at a place, for one channel.
  double at(OutputPixel place, int channel) const {
    const Mask& mask = problem.mask;
    double sum = 0;
    for (int j = 0; j < mask.height; ++j) {
      const double* weights = mask.weights.data() + std::size_t(j) * mask.width;
      const int y = rows[std::size_t(place.y) + j];
      const T* samples = y < 0 ? nullptr : row(y);
      for (int i = 0; i < mask.width; ++i) {
        const int x = columns[std::size_t(place.x) + i];
        const bool outside = x < 0 || y < 0;
        sum += weights[i] *
               (outside ? ghost : double(samples[std::ptrdiff_t(x) * problem.channels + channel]));
      }
    }
    return mask.offset + sum / mask.divisor;
  }
};

std::vector<int> stand_ins(Border border, int first, int count, int n) {
  std::vector<int> indices;
  for (int k = 0; k < count; ++k) indices.push_back(border_index(border, first + k, n));
  return indices;
}

constexpr double kRounding = 0.5;  // of a step, to the nearest integer
constexpr double kStep = 1;
constexpr double kBound16 = 0.05;  // 16-bit steps, before rounding, at a gain of 1
constexpr int kBoundSide16 = 31, kBoundSideFloat = 101;

/// Bounds in units of 1e-6 of sum of |weights| times largest |sample|.
constexpr double kFloatBound = 1, kFloatBoundOther = 10;

constexpr double kHalfUlp = 0x1p-24;  // of a float near 1

/// The truth itself, in double precision, is this far off at most, in steps.
constexpr double kTruthError = 1e-6;

bool fits(const Mask& mask, int side) {
  return mask.width <= side && mask.height <= side;
}

/// Weights that cancel lose more bits.
double amplification(const Mask& mask) {
  return std::max(1.0, absolute_gain(mask));
}

/// The error of the last float operations on a 16-bit sample, in steps.
double end_error16(const Mask& mask) {
  return kHalfUlp * (std::abs(mask.offset) + full_range(Depth::u16) + 1);
}

bool all_finite(PictureView<const std::byte> in) {
  for (int y = 0; y < in.height; ++y) {
    const float* row = reinterpret_cast<const float*>(in.row(y));
    if (!std::all_of(row, row + std::ptrdiff_t(in.width) * in.channels,
                     [](float sample) { return std::isfinite(sample); }))
      return false;
  }
  return true;
}

std::optional<double> direct_error(const Problem& problem) {
  const Mask& mask = problem.mask;
  switch (problem.depth) {
    case Depth::u8: return kRounding + prepare_mask<std::uint8_t>(mask).error + kTruthError;
    case Depth::u16:
      if (!fits(mask, kBoundSide16)) return {};
      return kRounding + kBound16 * amplification(mask) + end_error16(mask);
    case Depth::f32: break;
  }
  if (!fits(mask, kBoundSideFloat) || mask.offset != 0) return {};
  return kFloatBound;
}

std::optional<double> float_error(const Problem& problem, PictureView<const std::byte> in) {
  if (problem.mask.offset != 0 || !all_finite(in)) return {};
  return kFloatBoundOther;
}

std::optional<double> separable_error(const Problem& problem, PictureView<const std::byte> in) {
  switch (problem.depth) {
    case Depth::u8:
      return kRounding + prepare_separable<std::uint8_t>(problem.mask).error + kTruthError;
    case Depth::u16: return kStep * amplification(problem.mask);
    case Depth::f32: break;
  }
  return float_error(problem, in);
}

}  // namespace

PlacesToCheck places_to_check(const Problem& problem, double most_taps) {
  const int width = problem.out_width(), height = problem.out_height();
  const double taps = double(problem.mask.width) * problem.mask.height * problem.channels;
  PlacesToCheck check;
  std::vector<OutputPixel>& places = check.places;
  const auto add_row = [&](int y) {
    for (int x = 0; x < width; ++x) places.push_back({x, y});
    ++check.rows;
  };
  const double outputs = double(width) * height;
  if (outputs * taps <= most_taps && outputs * problem.channels <= kMostOutputs) {
    for (int y = 0; y < height; ++y) add_row(y);
    return check;
  }
  const auto ends = [](int n) {
    std::vector<int> indices;
    for (int k = 0; k < n; ++k)
      if (k < kCorner || k >= n - kCorner) indices.push_back(k);
    return indices;
  };
  for (const int y : ends(height))
    for (const int x : ends(width)) places.push_back({x, y});
  for (int k = 0; k < kAlongEdge; ++k) {
    const int x = int(std::int64_t(k) * width / kAlongEdge);
    const int y = int(std::int64_t(k) * height / kAlongEdge);
    for (const OutputPixel place : {OutputPixel{x, 0}, OutputPixel{x, height - 1},
                                    OutputPixel{0, y}, OutputPixel{width - 1, y}})
      places.push_back(place);
  }
  SplitMix random(1);
  const int more = int(std::clamp(kSampledTaps / taps, double(kLeastRandom), double(kMostRandom)));
  for (int k = 0; k < more; ++k) {
    const int x = random.below(std::uint32_t(width)), y = random.below(std::uint32_t(height));
    places.push_back({x, y});
  }
  const double affordable = kSampledTaps / (taps * width);
  const int most_rows = int(std::min<double>({affordable, double(kMostRows), double(height)}));
  std::set<int> rows;
  for (const int y : {0, height - 1})
    if (int(rows.size()) < most_rows) rows.insert(y);
  while (int(rows.size()) < most_rows) rows.insert(random.below(std::uint32_t(height)));
  for (const int y : rows) add_row(y);
  return check;
}

std::vector<double> true_results(const Problem& problem, PictureView<const std::byte> in,
                                 const std::vector<OutputPixel>& places, int threads) {
  std::vector<double> results(places.size() * std::size_t(problem.channels));
  const Mask& mask = problem.mask;
  with_depth(problem.depth, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Source<T> source{problem, in, double(ghost_sample<T>(problem)),
                           stand_ins(problem.border, -problem.lead_x(),
                                     problem.out_width() + mask.width - 1, problem.width),
                           stand_ins(problem.border, -problem.lead_y(),
                                     problem.out_height() + mask.height - 1, problem.height)};
    const int count = int(places.size()), block = places_in_block(count);
    const std::int64_t taps = std::int64_t(mask.width) * mask.height * problem.channels * count;
    cpu::parallel_for(
        (count + block - 1) / block, cpu::threads_for(taps, threads), [&](int, int index) {
          const int end = std::min(count, (index + 1) * block);
          for (int k = index * block; k < end; ++k) {
            for (int c = 0; c < problem.channels; ++c)
              results[std::size_t(k) * problem.channels + c] = source.at(places[std::size_t(k)], c);
          }
        });
  });
  return results;
}

Distance distance_from(const std::vector<double>& truth, const Problem& problem,
                       PictureView<const std::byte> out, const std::vector<OutputPixel>& places,
                       double unit) {
  Distance distance;
  with_depth(problem.depth, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const OutputPixel place : places) {
      const T* pixel =
          reinterpret_cast<const T*>(out.row(place.y)) + std::ptrdiff_t(place.x) * problem.channels;
      for (int c = 0; c < problem.channels; ++c) {
        double want = truth[distance.samples++];
        const double got = double(pixel[c]);
        if constexpr (!std::is_same_v<T, float>)
          want = std::clamp(want, 0.0, full_range(problem.depth));
        // The right answer beyond the range of floats is an infinity.
        const bool alike = got == want || (std::isnan(got) && std::isnan(want)) ||
                           (std::isinf(got) && got == double(float(want)));
        const double off = alike ? 0 : std::abs(got - want) / unit;
        distance.largest = std::max(
            distance.largest, std::isnan(off) ? std::numeric_limits<double>::infinity() : off);
      }
    }
  });
  return distance;
}

double unit_of(const Problem& problem, PictureView<const std::byte> in) {
  if (problem.depth != Depth::f32) return 1;
  double largest = problem.border == Border::constant ? std::abs(problem.border_value) : 0;
  for (int y = 0; y < in.height; ++y) {
    const float* row = reinterpret_cast<const float*>(in.row(y));
    for (int x = 0; x < in.width * in.channels; ++x)
      if (std::isfinite(row[x])) largest = std::max(largest, double(std::abs(row[x])));
  }
  const double unit = 1e-6 * absolute_gain(problem.mask) * largest;
  return unit > 0 ? unit : 1e-6;
}

std::optional<double> error_bound(const Problem& problem, PictureView<const std::byte> in,
                                  Family family) {
  switch (family) {
    case Family::direct: return direct_error(problem);
    case Family::reordered: return direct_error(problem);
    case Family::separable: return separable_error(problem, in);
    case Family::transform: break;
  }
  return problem.depth == Depth::f32 ? float_error(problem, in) : std::optional(kStep);
}

}  // namespace convfilt
