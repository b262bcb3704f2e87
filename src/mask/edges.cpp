#include "src/mask/edges.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <utility>

#include "src/base/errors.hpp"
#include "src/mask/set.hpp"

namespace convfilt {
namespace {

using Line = std::vector<double>;

/// Both lines, one after the other, as one line.
Line joined(const Line& a, const Line& b) {
  Line sums(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sums[i + j] += a[i] * b[j];
  return sums;
}

Mask product_mask(const Line& column, const Line& row) {
  return make_mask("", int(row.size()), int(column.size()), outer_product(column, row));
}

/// The mask behind a Gaussian, as one mask.
Mask smoothed(const Mask& mask, const Line& gaussian) {
  const int more = int(gaussian.size()) - 1;
  Mask sums = make_mask("", mask.width + more, mask.height + more, {});
  sums.weights.resize(std::size_t(sums.width) * std::size_t(sums.height));
  for (int y = 0; y < sums.height; ++y)
    for (int x = 0; x < sums.width; ++x)
      for (int j = std::max(0, y - more); j <= std::min(y, mask.height - 1); ++j)
        for (int i = std::max(0, x - more); i <= std::min(x, mask.width - 1); ++i)
          sums.weights[std::size_t(y) * std::size_t(sums.width) + std::size_t(x)] +=
              mask.weight(i, j) * (gaussian[std::size_t(y - j)] * gaussian[std::size_t(x - i)]);
  return sums;
}

/// A gradient's mask across is a change along rows and a mean along columns.
struct Gradient {
  Line change, mean;
};

Gradient gradient_of(EdgeMethod method) {
  const Line middle = {-1, 0, 1};
  switch (method) {
    case EdgeMethod::scharr: return {middle, {3, 10, 3}};
    case EdgeMethod::prewitt: return {middle, {1, 1, 1}};
    // Roberts's two diagonal differences, turned by 45 degrees: the length is the same.
    case EdgeMethod::roberts: return {{-1, 1}, {1, 1}};
    // Farid and Simoncelli, Differentiation of Discrete Multidimensional Signals, 2004.
    case EdgeMethod::farid:
      return {{-0.109603762960254, -0.276690988455557, 0, 0.276690988455557, 0.109603762960254},
              {0.0376593171958126, 0.249153396177344, 0.426374573253687, 0.249153396177344,
               0.0376593171958126}};
    case EdgeMethod::freichen: return {middle, {1, std::numbers::sqrt2, 1}};
    default: return {middle, {1, 2, 1}};
  }
}

/// A mask for each eighth of a turn, counter-clockwise from this one of 3x3.
std::vector<Mask> compass_masks(std::vector<double> weights, const Line& gaussian) {
  Mask mask = make_mask("", 3, 3, std::move(weights));
  std::vector<Mask> masks;
  for (int turn = 0; turn < 8; ++turn) {
    masks.push_back(smoothed(mask, gaussian));
    mask = turned_by_eighth(mask);
  }
  return masks;
}

std::vector<Mask> masks_of(EdgeMethod method, double sigma) {
  const Line gaussian = sigma == 0 ? Line{1} : gaussian_mask(sigma, 0).weights;
  switch (method) {
    case EdgeMethod::kirsch: return compass_masks({-3, -3, 5, -3, 0, 5, -3, -3, 5}, gaussian);
    case EdgeMethod::robinson: return compass_masks({-1, 0, 1, -2, 0, 2, -1, 0, 1}, gaussian);
    case EdgeMethod::laplacian:
      return {smoothed(make_mask("", 3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}), gaussian)};
    case EdgeMethod::log: return {log_mask(sigma)};
    case EdgeMethod::dog: return {dog_mask(sigma, kDogRatio * sigma)};
    default: break;
  }
  const Gradient gradient = gradient_of(method);
  const Line change = joined(gradient.change, gaussian), mean = joined(gradient.mean, gaussian);
  return {product_mask(mean, change), product_mask(change, mean)};
}

/// The largest answer to an upright step of height 1, whose right side is bright.
double step_answer(const std::vector<Mask>& masks, EdgeKind kind, bool by_crossings) {
  double largest = 0;
  std::vector<double> sums(masks.size());
  for (int column = masks[0].width - 1; column >= 0; --column) {
    double answer = 0;
    for (std::size_t k = 0; k < masks.size(); ++k) {
      const double last = sums[k];
      for (int j = 0; j < masks[k].height; ++j) sums[k] += masks[k].weight(column, j);
      const double response = by_crossings ? sums[k] - last : sums[k];
      answer = kind == EdgeKind::gradient ? std::hypot(answer, response)
                                          : std::max(answer, std::abs(response));
    }
    largest = std::max(largest, answer);
  }
  return largest;
}

}  // namespace

std::string_view name_of(EdgeMethod method) {
  constexpr std::string_view kNames[] = {"sobel",     "scharr",   "prewitt", "roberts",
                                         "farid",     "freichen", "kirsch",  "robinson",
                                         "laplacian", "log",      "dog",     "canny"};
  return kNames[std::size_t(method)];
}

std::string_view name_of(EdgeDirection direction) {
  constexpr std::string_view kNames[] = {"both", "x", "y", "angle", "hue"};
  return kNames[std::size_t(direction)];
}

EdgeKind kind_of(EdgeMethod method) {
  switch (method) {
    case EdgeMethod::kirsch:
    case EdgeMethod::robinson: return EdgeKind::compass;
    case EdgeMethod::laplacian:
    case EdgeMethod::log:
    case EdgeMethod::dog: return EdgeKind::curvature;
    default: return EdgeKind::gradient;
  }
}

std::vector<Mask> edge_masks(const EdgeMasks& options) {
  const std::string method(name_of(options.method));
  const EdgeKind kind = kind_of(options.method);
  const EdgeDirection direction = options.direction;
  const bool is_axis = direction == EdgeDirection::x || direction == EdgeDirection::y;
  if (is_axis ? kind != EdgeKind::gradient : shows_angles(direction) && kind == EdgeKind::curvature)
    throw UsageError("--direction=" + std::string(name_of(direction)) + ": " + method +
                     (kind == EdgeKind::curvature ? " has one mask for all directions"
                                                  : " has masks for eight directions") +
                     "; leave --direction out");
  if (options.sigma == 0 &&
      (options.method == EdgeMethod::log || options.method == EdgeMethod::dog))
    throw UsageError("--sigma 0: " + method + " is made of Gaussians; give one above 0");

  std::vector<Mask> masks = masks_of(options.method, options.sigma);
  // Sums of rounded weights are not equal in all columns, as those of whole ones are.
  const double divisor = step_answer(masks, kind, options.by_crossings) / options.gain;
  for (std::size_t k = 0; k < masks.size(); ++k) {
    masks[k].divisor = divisor;
    masks[k].name = method + (kind == EdgeKind::gradient ? (k == 0 ? " x" : " y")
                              : masks.size() > 1         ? " " + std::to_string(45 * k)
                                                         : "");
  }
  if (direction == EdgeDirection::x) masks.pop_back();
  if (direction == EdgeDirection::y) masks.erase(masks.begin());
  return masks;
}

}  // namespace convfilt
