// Fits lines of weights to grids, chooses a mask's grids, and bounds how far the result may be off:
// by the fit, and by roundings.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "kernels/coarse/mask.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/border.hpp"
#include "kernels/contract/separable.hpp"

namespace convfilt::coarse {
namespace {

using Line = std::vector<double>;

/// The convolution of kOrder boxes of `step` ones; its sum is step^3. It is padded to whole cells.
Line spline(int step) {
  Line line = {1};
  for (int k = 0; k < kOrder; ++k) {
    Line longer(line.size() + step - 1);
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (int t = 0; t < step; ++t) longer[i + t] += line[i];
    }
    line = std::move(longer);
  }
  line.resize(kOrder * step);
  return line;
}

/// The sum of a[x] * b[x + shift] over all x.
double product(const Line& a, const Line& b, int shift) {
  double sum = 0;
  const int end = std::min(int(a.size()), int(b.size()) - shift);
  for (int x = std::max(0, -shift); x < end; ++x) sum += a[x] * b[x + shift];
  return sum;
}

/// Solves A v = b for a banded positive definite matrix A[i][j] = diagonals[|i - j|], by Cholesky's
/// decomposition.
class BandedSolver {
 public:
  BandedSolver(const Line& diagonals, int size)
      : width_(int(diagonals.size())), rows_(size, Line(width_)) {
    for (int i = 0; i < size; ++i) {
      for (int e = std::min(i, width_ - 1); e >= 0; --e) {  // column i - e
        double sum = diagonals[e];
        for (int k = e + 1; k < width_ && k <= i; ++k) sum -= rows_[i][k] * rows_[i - e][k - e];
        rows_[i][e] = e == 0 ? std::sqrt(sum) : sum / rows_[i - e][0];
      }
    }
  }

  Line solve(Line v) const {
    const int size = int(v.size());
    for (int i = 0; i < size; ++i) {
      for (int e = 1; e < width_ && e <= i; ++e) v[i] -= rows_[i][e] * v[i - e];
      v[i] /= rows_[i][0];
    }
    for (int i = size - 1; i >= 0; --i) {
      for (int e = 1; e < width_ && i + e < size; ++e) v[i] -= rows_[i + e][e] * v[i + e];
      v[i] /= rows_[i][0];
    }
    return v;
  }

 private:
  int width_;
  std::vector<Line> rows_;
};

std::vector<float> floats(const Line& line) {
  return {line.begin(), line.end()};
}

/// The sum of |differences| between the line's weights and those that the coarse line gives to
/// samples, for an output that lies `place` samples into a cell.
double difference(const Axis& axis, int place) {
  const int d = axis.step, nodes = int(axis.coarse.size()) + kOrder - 1;
  Line of_nodes(nodes);
  for (int k = 0; k < kOrder; ++k) {
    // The first of the three nodes begins first, so the output lies furthest along its spline.
    const double back = axis.back[place + (kOrder - 1 - k) * d];
    for (std::size_t m = 0; m < axis.coarse.size(); ++m) of_nodes[k + m] += back * axis.coarse[m];
  }
  Line weights((nodes + kOrder - 1) * d);  // for the samples from axis.first on
  for (int node = 0; node < nodes; ++node) {
    double* const to = &weights[node * d];
    for (int t = 0; t < kOrder * d; ++t) to[t] += of_nodes[node] * axis.down[t];
  }
  for (std::size_t i = 0; i < axis.line.size(); ++i)
    weights[place - axis.first + int(i)] -= axis.line[i];
  return magnitude(weights);
}

/// A bound on the roundings of a sum of products with these weights, in half ulps of the largest
/// sample. Each product is rounded, and so is each partial sum, which is at most the sum of
/// |weights| so far. A chain ends after every `length` products, the first time after
/// length - shift of them, and at the end of every cell of `cell` products. The chains are then
/// added up.
double roundings(const std::vector<float>& weights, int length, int cell, int shift = 0) {
  double total = 0, chain = 0, count = magnitude(weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if ((int(i) % cell + shift) % length == 0) {
      total += chain;
      count += total;
      chain = 0;
    }
    chain += std::abs(weights[i]);
    count += chain;
  }
  return count + total + chain;
}

double line_roundings(const std::vector<float>& weights) {
  double most = 0;  // a thread's sums each start one sample later
  for (int shift = 0; shift < kLineChain; ++shift)
    most = std::max(most, roundings(weights, kLineChain, int(weights.size()), shift));
  return most;
}

}  // namespace

Axis fit_axis(const std::vector<double>& line, int step, int gap) {
  // `coarse` has `size` weights, one for each node whose spline reaches samples that the outputs of
  // a cell need. The line starts `gap` samples into the cell.
  const int d = step, sides = int(line.size());
  const int reach = kOrder * d;
  const int last = (gap + sides - 1 + reach - 1) / d;
  const int before = kOrder - 1;  // nodes whose spline begins before the line
  const int size = before + last + 1;
  const Line box3 = spline(d);
  Line down = box3, back = box3;
  const double whole = total_of(box3);
  for (double& v : down) v /= whole;
  for (double& v : back) v *= d / whole;

  // Least squares need <B_m, line> and <B_m, B_n>, where B_m are the weights that coarse[m] alone
  // would give to samples.
  Line right(size), across(2 * reach);
  for (int shift = -reach; shift < reach; ++shift)
    across[shift + reach] = product(back, down, shift);
  for (int m = 0; m < size; ++m) {
    for (int i = 0; i < sides; ++i) {
      const int shift = gap + i - (m - before) * d;
      if (shift >= -reach && shift < reach) right[m] += line[i] * across[shift + reach];
    }
  }
  Line diagonals(2 * kOrder - 1);
  for (int e = 0; e < int(diagonals.size()); ++e) {
    for (int j = -kOrder; j <= kOrder; ++j)
      diagonals[e] += product(back, back, j * d) * product(down, down, (e - j) * d);
  }
  const BandedSolver solver(diagonals, size);
  Line coarse = solver.solve(right);
  // The nearest solution may have another sum than the line. A multiple of the solution for a right
  // side of ones corrects that with the least change.
  const Line along = solver.solve(Line(size, 1.0));
  const double missing = (total_of(line) - total_of(coarse)) / total_of(along);
  for (int m = 0; m < size; ++m) coarse[m] += missing * along[m];

  Axis axis;
  axis.line = floats(line);
  axis.step = d;
  axis.first = -gap - 2 * before * d;
  const double largest = *std::max_element(down.begin(), down.end());
  axis.down_unit = float(std::exp2(std::ceil(std::log2(largest / 65535))));
  for (double v : down)
    axis.down.push_back(float(std::nearbyint(v / axis.down_unit)) * axis.down_unit);
  const double kept = total_of(axis.down);  // nearly 1
  for (double& weight : coarse) weight /= kept;
  axis.coarse = floats(coarse);
  axis.back = floats(back);
  for (int place = 0; place < d; ++place)
    axis.error = std::max(axis.error, difference(axis, place));
  axis.line_roundings = line_roundings(axis.line) + 1;            // + 1 for the weights' own
  axis.down_roundings = roundings(axis.down, kDownChain, d) + 1;  // + 1: two blocks share a node
  axis.coarse_roundings = line_roundings(axis.coarse);
  return axis;
}

namespace {

constexpr double kHalfUlp = 0x1p-24;  // a float near 1 is rounded by so much
constexpr int kAligned = 16;          // the number of 8-bit samples in the widest load

// Steps are multiples of four, so that four neighbouring outputs lie in one cell.
constexpr int kSteps[] = {4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128};

// Sums of bytes are rounded four times: when the upper half becomes a float, when both halves are
// added, when the centre's share is computed, and when it is subtracted. Where two blocks share a
// node, both round four times, and their sum is rounded once. What is rounded is at most twice the
// centre.
constexpr double kByteRoundings = 2 * (2 * 4 + 1);

// Longer steps would make sums of bytes exceed 32 bits.
constexpr int kLongestStepU16 = 80;
static_assert(65535.0 * 255 * kOrder * kLongestStepU16 < 0x1p32);

// The largest bounds that are accepted. They count steps, to which rounding adds half a step, and
// for f32 multiples of the mask's scale times the largest sample.
constexpr double kLimitU8 = 0.1, kLimitU16 = 0.49, kLimitF32 = 0.99e-5;

double limit_of(const Problem& problem) {
  if (problem.depth == Depth::f32) return kLimitF32 / std::max(problem.contrast, 1.0);
  return problem.depth == Depth::u8 ? kLimitU8 : kLimitU16;
}

/// A bound, to first order, on what single precision loses, relative to scale * largest |sample|.
double rounding_error(Depth depth, const Axis& x, const Axis& y) {
  const double coarse_x = magnitude(x.coarse), coarse_y = magnitude(y.coarse);
  // The errors that f.x s.y and s.x s.y have in common are multiplied by f.x - s.x in the end.
  const double bytes = depth == Depth::f32 ? 0 : kByteRoundings;
  const double down_x = std::max(x.down_roundings, bytes);
  const double down_y = std::max(y.down_roundings, bytes);
  const double common = (down_y * coarse_y + y.coarse_roundings) * x.error;
  const double fine_x = x.line_roundings * coarse_y;
  const double both = (x.down_roundings * coarse_x + x.coarse_roundings) * coarse_y;
  const double fine_y = (down_x + y.line_roundings) * coarse_x + x.coarse_roundings;
  const double ends = 2 * kOrder * coarse_y * (coarse_x + 2 * x.error) +
                      (2 * kOrder + 1) * (coarse_x + x.error * coarse_y);
  const double scaled = coarse_y + coarse_x * coarse_y + coarse_x;
  return kHalfUlp * (common + fine_x + both + fine_y + ends + scaled);
}

struct Lines {
  Line x, y;
  double scale;
};

Lines lines_of(const Problem& problem) {
  const Mask& mask = problem.mask;
  if (absolute_gain(mask) == 0)
    throw std::invalid_argument("the mask's weights are all 0; use another strategy");
  const auto factors = factorise(mask, rank_tolerance(problem.depth));
  if (!factors) {
    throw std::invalid_argument(
        "the mask is not the product of a row and a column (its rank is not 1); use another "
        "strategy, such as overlap-save");
  }
  Lines lines{factors->row, factors->column, absolute_gain(mask)};
  const double of_row = magnitude(lines.x), of_column = magnitude(lines.y);
  for (double& w : lines.x) w /= of_row;
  for (double& w : lines.y) w /= of_column;
  return lines;
}

double relative_bound(const Problem& problem, const Axis& x, const Axis& y) {
  return x.error * y.error + rounding_error(problem.depth, x, y) + rank_tolerance(problem.depth);
}

/// The bound in the unit of FittedMask::error.
double bound_of(const Problem& problem, const FittedMask& mask) {
  const double relative = relative_bound(problem, mask.x, mask.y);
  if (problem.depth == Depth::f32) return relative;
  return relative * mask.centre * mask.scale +
         kHalfUlp * (std::abs(problem.mask.offset) + 2 * mask.centre * (mask.scale + 1));
}

/// The part of the cost that the steps decide, in multiply-adds for each output: the lines at full
/// length on every d-th row and column, and the transfers of those rows and columns, which are
/// written and read some six times.
double cost(const FittedMask& mask) {
  constexpr double kPlanes = 100;  // the multiply-adds that take as long as a sample's transfers
  return (double(mask.x.line.size()) + kPlanes) / mask.y.step +
         (double(mask.y.line.size()) + kPlanes) / mask.x.step;
}

/// The same as fit_axis(). Fits are kept, since both axes and several callers ask for the same.
Axis kept_fit(const Line& line, int step, int gap) {
  constexpr std::size_t kMost = 64;
  static std::mutex mutex;
  static auto& kept = *new std::map<std::tuple<int, int, Line>, Axis>;
  const std::lock_guard lock(mutex);
  const std::tuple key(step, gap, line);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  if (kept.size() == kMost) kept.clear();
  return kept.emplace(key, fit_axis(line, step, gap)).first->second;
}

std::string too_far(const Problem& problem, double error) {
  const auto text = [](const char* format, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, format, value);
    return std::string(digits);
  };
  return "the mask is not smooth enough for a grid of every " + std::to_string(kSteps[0]) +
         "th sample: the result could be " + text(error < 10 ? "%.2g" : "%.0f", error) +
         (problem.depth == Depth::f32 ? " of the largest sample" : " of a step") + " off, and " +
         text("%g", limit_of(problem)) + " is allowed; use --strategy=separable";
}

}  // namespace

FittedMask fit_mask(const Problem& problem) {
  if (const std::string reason = transform_refuses(problem); !reason.empty())
    throw std::invalid_argument(reason);
  const Lines lines = lines_of(problem);
  const int gap = floor_modulo(-problem.lead_x(), kAligned);
  const double centre = problem.depth == Depth::f32 ? 0 : std::ceil(full_range(problem.depth) / 2);
  std::optional<FittedMask> best;
  double least_error = 0;
  for (int step_x : kSteps) {
    if (problem.depth == Depth::u16 && step_x > kLongestStepU16) break;
    bool any = false;  // whether any step is fine enough; if none is, no coarser one can be
    for (int step_y : kSteps) {
      FittedMask mask{kept_fit(lines.x, step_x, gap), kept_fit(lines.y, step_y, 0), lines.scale,
                      centre, 0};
      mask.error = bound_of(problem, mask);
      if (least_error == 0) least_error = mask.error;
      if (mask.error > limit_of(problem)) break;
      any = true;
      if (!best || cost(mask) < cost(*best)) best = std::move(mask);
    }
    if (!any) break;
  }
  if (!best) throw std::invalid_argument(too_far(problem, least_error));
  return *best;
}

std::string refuses(const Problem& problem) {
  try {
    fit_mask(problem);
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "";
}

}  // namespace convfilt::coarse
