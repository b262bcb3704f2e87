// Chooses a mask's grids, and bounds how far the result may be off.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>

#include "kernels/coarse/mask.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/border.hpp"
#include "kernels/contract/separable.hpp"

namespace convfilt::coarse {
namespace {

using Line = std::vector<double>;

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

double limit_of(Depth depth) {
  return depth == Depth::u8 ? kLimitU8 : depth == Depth::u16 ? kLimitU16 : kLimitF32;
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

/// The fits of one line. Each is made when it is first asked for.
class Fits {
 public:
  Fits(const Line& line, int gap) : line_(line), gap_(gap) {}

  const Axis& at(int step) {
    const auto found = made_.find(step);
    if (found != made_.end()) return found->second;
    return made_.emplace(step, fit_axis(line_, step, gap_)).first->second;
  }

 private:
  const Line& line_;
  int gap_;
  std::map<int, Axis> made_;
};

std::string too_far(const Problem& problem, double error) {
  const auto text = [](const char* format, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, format, value);
    return std::string(digits);
  };
  return "the mask is not smooth enough for a grid of every " + std::to_string(kSteps[0]) +
         "th sample: the result could be " + text(error < 10 ? "%.2g" : "%.0f", error) +
         (problem.depth == Depth::f32 ? " of the largest sample" : " of a step") + " off, and " +
         text("%g", limit_of(problem.depth)) + " is allowed; use --strategy=separable";
}

}  // namespace

FittedMask fit_mask(const Problem& problem) {
  if (const std::string reason = transform_refuses(problem); !reason.empty())
    throw std::invalid_argument(reason);
  const Lines lines = lines_of(problem);
  Fits fits_x(lines.x, floor_modulo(-problem.lead_x(), kAligned)), fits_y(lines.y, 0);
  const double centre = problem.depth == Depth::f32 ? 0 : std::ceil(full_range(problem.depth) / 2);
  std::optional<FittedMask> best;
  double least_error = 0;
  for (int step_x : kSteps) {
    if (problem.depth == Depth::u16 && step_x > kLongestStepU16) break;
    bool any = false;  // whether any step is fine enough; if none is, no coarser one can be
    for (int step_y : kSteps) {
      FittedMask mask{fits_x.at(step_x), fits_y.at(step_y), lines.scale, centre, 0};
      mask.error = bound_of(problem, mask);
      if (least_error == 0) least_error = mask.error;
      if (mask.error > limit_of(problem.depth)) break;
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
