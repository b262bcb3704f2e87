#include "make_masks.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "exact_mask.hpp"
#include "number.hpp"

namespace convfilt {
namespace {

// Four sigma: see gaussian_mask for what is lost beyond.
constexpr double kSigmasKept = 4;
constexpr int kMaxRadius = (kMaxMaskSide - 1) / 2;
constexpr double kMaxSigma = kMaxRadius / kSigmasKept;
constexpr double kMaxAmount = 1e6;

int radius_for(double sigma) {
  if (!(sigma > 0 && sigma <= kMaxSigma)) {
    throw UsageError("sigma " + print_number(sigma) +
                     " is impossible; give one above 0 and up to " + print_number(kMaxSigma) +
                     ", where the mask is " + std::to_string(kMaxMaskSide) + " pixels wide");
  }
  return std::max(1, static_cast<int>(std::ceil(kSigmasKept * sigma)));
}

// exp(-x*x / (2 sigma*sigma)) for x = -radius..radius, over their sum. The quotient is squared, not
// its parts, so that a sigma whose square is no double any more still gives 1 in the middle.
std::vector<double> gaussian_samples(double sigma, int radius) {
  std::vector<double> samples;
  double sum = 0;
  for (int x = -radius; x <= radius; ++x) {
    const double t = x / sigma;
    samples.push_back(std::exp(-0.5 * t * t));
    sum += samples.back();
  }
  for (double& sample : samples) sample /= sum;
  return samples;
}

std::string name_with(const std::string& name, double sigma) {
  return name + " sigma " + print_number(sigma);
}

bool all_whole(const std::vector<double>& weights) {
  return std::all_of(weights.begin(), weights.end(),
                     [](double w) { return w == std::trunc(w) && std::abs(w) < 0x1p53; });
}

}  // namespace

Mask gaussian_mask(double sigma) {
  const int radius = radius_for(sigma), side = 2 * radius + 1;
  const std::vector<double> line = gaussian_samples(sigma, radius);
  std::vector<double> weights;
  weights.reserve(std::size_t(side) * side);
  for (double of_row : line) {
    for (double of_column : line) weights.push_back(of_row * of_column);
  }
  return make_mask(name_with("gaussian", sigma), side, side, std::move(weights));
}

Mask box_mask(int side) {
  if (side < 1 || side > kMaxMaskSide) {
    throw UsageError("a box of side " + std::to_string(side) +
                     " is impossible; give a side of 1 to " + std::to_string(kMaxMaskSide));
  }
  const std::size_t count = std::size_t(side) * side;
  return make_mask("box" + std::to_string(side), side, side, std::vector<double>(count, 1.0),
                   static_cast<double>(count));
}

Mask sharpen_mask(double amount, double sigma) {
  if (!(amount >= 0 && amount <= kMaxAmount)) {
    throw UsageError("amount " + print_number(amount) + " is impossible; give one from 0 to " +
                     print_number(kMaxAmount));
  }
  Mask mask = gaussian_mask(sigma);
  mask.name = name_with("sharpen " + print_number(amount), sigma);
  for (double& weight : mask.weights) weight *= -amount;
  mask.weights[mask.weights.size() / 2] += 1 + amount;
  return mask;
}

Mask log_mask(double sigma) {
  const int radius = radius_for(sigma), side = 2 * radius + 1;
  const std::vector<double> line = gaussian_samples(sigma, radius);
  // (r*r - 2 sigma*sigma) * Gaussian, the Laplacian but for a factor, which the scaling below sets.
  // In units of sigma, since the square of a small sigma is no double.
  std::vector<double> weights;
  weights.reserve(std::size_t(side) * side);
  double sum = 0;
  for (int y = -radius; y <= radius; ++y) {
    for (int x = -radius; x <= radius; ++x) {
      const double gauss = line[y + radius] * line[x + radius];
      const double s = x / sigma, t = y / sigma;
      weights.push_back(gauss == 0 ? 0 : (s * s + t * t - 2) * gauss);
      sum += weights.back();
    }
  }
  const double mean = sum / static_cast<double>(weights.size());
  double moment = 0;
  for (int y = -radius; y <= radius; ++y) {
    for (int x = -radius; x <= radius; ++x) {
      double& weight = weights[std::size_t(y + radius) * side + (x + radius)];
      weight -= mean;
      moment += weight * (double(x) * x + double(y) * y);
    }
  }
  // The paraboloid gives half the moment, and shall give 2.
  for (double& weight : weights) weight *= 4 / moment;
  return make_mask(name_with("log", sigma), side, side, std::move(weights));
}

Mask normalized(const Mask& mask) {
  double sum = 0, positive = 0, magnitudes = 0;
  for (double weight : mask.weights) {
    sum += weight;
    positive += std::max(weight, 0.0);
    magnitudes += std::abs(weight);
  }
  if (magnitudes == 0) {
    throw UsageError("mask " + mask.name +
                     " cannot be normalised: its weights are all 0; leave out --normalize");
  }
  if (std::abs(sum) <= 1e-12 * magnitudes) sum = positive;
  Mask result = mask;
  if (all_whole(mask.weights)) {
    // Whole numbers are summed without rounding, so the quotients are exact fractions.
    std::vector<Number> weights;
    weights.reserve(mask.weights.size());
    for (double weight : mask.weights) weights.push_back(number_of(weight));
    set_weights(result, weights, number_of(sum), number_of(mask.offset, mask.divisor));
    return result;
  }
  for (double& weight : result.weights) weight /= sum;
  result.divisor = 1;
  return result;
}

}  // namespace convfilt
