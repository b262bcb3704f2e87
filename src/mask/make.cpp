#include "src/mask/make.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/mask/number.hpp"

namespace convfilt {
namespace {

// Weights beyond this many sigma are left out; gaussian_mask() gives their small sum.
constexpr double kSigmasKept = 4;
constexpr int kMaxRadius = (kMaxMaskSide - 1) / 2;
static_assert(kMaxSigma == kMaxRadius / kSigmasKept);

int radius_for(double sigma) {
  if (!(sigma > 0 && sigma <= kMaxSigma)) {
    throw UsageError("sigma " + print_number(sigma) +
                     " is impossible; give one above 0 and up to " + print_number(kMaxSigma) +
                     ", where the mask is " + std::to_string(kMaxMaskSide) + " pixels wide");
  }
  return std::max(1, static_cast<int>(std::ceil(kSigmasKept * sigma)));
}

// Samples exp(-x*x / (2 sigma*sigma)) at `side` positions x, one apart and centred on 0, and
// divides them by their sum. The quotient x / sigma is squared rather than its parts, so that a
// sigma whose square underflows still gives 1 in the middle before the division.
std::vector<double> gaussian_samples(double sigma, int side) {
  std::vector<double> samples;
  double sum = 0;
  for (int i = 0; i < side; ++i) {
    const double t = (i - 0.5 * (side - 1)) / sigma;
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
  return gaussian_mask(sigma, sigma);
}

Mask gaussian_mask(double sigma_x, double sigma_y) {
  if (sigma_x == 0 && sigma_y == 0) radius_for(0);  // throws
  const auto line = [](double sigma) {
    return sigma == 0 ? std::vector<double>{1} : gaussian_samples(sigma, 2 * radius_for(sigma) + 1);
  };
  const std::vector<double> row = line(sigma_x), column = line(sigma_y);
  std::string name = name_with("gaussian", sigma_x);
  if (sigma_x != sigma_y) name += "," + print_number(sigma_y);
  return make_mask(std::move(name), int(row.size()), int(column.size()),
                   outer_product(column, row));
}

Mask binomial_mask(int side) {
  if (side < 1 || side > kMaxBinomialSide)
    throw UsageError("a binomial mask of side " + std::to_string(side) +
                     " is impossible; give a side of 1 to " + std::to_string(kMaxBinomialSide));
  std::vector<double> line{1};
  for (int k = 1; k < side; ++k) line.push_back(line.back() * (side - k) / k);
  return normalized(
      make_mask("binomial" + std::to_string(side), side, side, outer_product(line, line)));
}

Mask highpass_mask(double sigma) {
  Mask mask = gaussian_mask(sigma);
  mask.name = name_with("highpass", sigma);
  for (double& weight : mask.weights) weight = -weight;
  mask.weights[mask.weights.size() / 2] += 1;
  return mask;
}

Mask dog_mask(double sigma, double outer) {
  Mask mask = gaussian_mask(outer);
  const Mask inner = gaussian_mask(sigma);
  if (!(sigma < outer))
    throw UsageError("sigma " + print_number(outer) +
                     " of the outer Gaussian is impossible; give one above " + print_number(sigma) +
                     ", that of the inner one");
  mask.name = name_with("dog", sigma) + "," + print_number(outer);
  const int margin = (mask.width - inner.width) / 2;
  for (double& weight : mask.weights) weight = -weight;
  for (int y = 0; y < inner.height; ++y)
    for (int x = 0; x < inner.width; ++x)
      mask.weights[std::size_t(y + margin) * mask.width + (x + margin)] += inner.weight(x, y);
  return mask;
}

Mask gabor_mask(const Gabor& gabor) {
  const auto refuse = [](const std::string& what, double value, const std::string& remedy) {
    throw UsageError(what + " " + print_number(value) + " is impossible; " + remedy);
  };
  if (!(gabor.wavelength >= 2 && gabor.wavelength <= kMaxMaskSide))
    refuse("wavelength", gabor.wavelength, "give 2 to " + std::to_string(kMaxMaskSide) + " pixels");
  if (!(gabor.aspect > 0)) refuse("aspect", gabor.aspect, "give one above 0");
  if (!std::isfinite(gabor.degrees) || !std::isfinite(gabor.phase))
    throw UsageError("an angle is a number of degrees");
  const int radius = std::max(radius_for(gabor.sigma), radius_for(gabor.sigma / gabor.aspect));
  const int side = 2 * radius + 1;
  const double angle = gabor.degrees * std::numbers::pi / 180;
  const double phase = gabor.phase * std::numbers::pi / 180;
  std::vector<double> envelope, wave;
  double all = 0, waves = 0;
  for (int y = -radius; y <= radius; ++y)
    for (int x = -radius; x <= radius; ++x) {
      const double along = x * std::cos(angle) - y * std::sin(angle);
      const double aside = x * std::sin(angle) + y * std::cos(angle);
      const double s = along / gabor.sigma, t = aside * gabor.aspect / gabor.sigma;
      envelope.push_back(std::exp(-0.5 * (s * s + t * t)));
      wave.push_back(std::cos(2 * std::numbers::pi * along / gabor.wavelength + phase));
      all += envelope.back();
      waves += envelope.back() * wave.back();
    }
  double response = 0;
  for (std::size_t k = 0; k < wave.size(); ++k) {
    const double weight = envelope[k] * (wave[k] - waves / all);
    response += weight * wave[k];
    envelope[k] = weight;
  }
  if (!(response > 1e-9 * all))
    refuse("sigma", gabor.sigma,
           "a wave of " + print_number(gabor.wavelength) + " pixels needs a larger one");
  for (double& weight : envelope) weight /= response;
  return make_mask(name_with("gabor", gabor.sigma), side, side, std::move(envelope));
}

std::vector<double> outer_product(const std::vector<double>& column,
                                  const std::vector<double>& row) {
  std::vector<double> weights;
  weights.reserve(column.size() * row.size());
  for (double of_column : column) {
    for (double of_row : row) weights.push_back(of_column * of_row);
  }
  return weights;
}

void check_mask_sides(int width, int height) {
  if (width < 1 || height < 1 || width > kMaxMaskSide || height > kMaxMaskSide) {
    throw UsageError("a mask of " + size_text(width, height) +
                     " is impossible; give sides of 1 to " + std::to_string(kMaxMaskSide));
  }
}

Mask gaussian_mask_of(int width, int height) {
  check_mask_sides(width, height);
  constexpr double kSidesPerSigma = 6;
  const auto line = [](int side) { return gaussian_samples(side / kSidesPerSigma, side); };
  return make_mask(std::string(kGaussianName), width, height,
                   outer_product(line(height), line(width)));
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
  const std::vector<double> line = gaussian_samples(sigma, side);
  // (r*r - 2 sigma*sigma) * Gaussian, the Laplacian but for a factor, which the scaling below sets.
  // Distances are in units of sigma, because the square of a small sigma underflows.
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
  // The paraboloid (x*x + y*y) / 2 gives half the moment, and should give 2.
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
  if (!std::isfinite(magnitudes)) {  // only the ratios of weights count
    Mask smaller = mask;
    for (double& weight : smaller.weights) weight /= std::numeric_limits<double>::max();
    return normalized(smaller);
  }
  if (std::abs(sum) <= 1e-12 * magnitudes) sum = positive;
  // Whole numbers are summed without rounding, so their quotients are exact fractions.
  const bool is_exact = all_whole(mask.weights);
  std::vector<Number> weights;
  weights.reserve(mask.weights.size());
  for (double weight : mask.weights) weights.push_back(number_of(is_exact ? weight : weight / sum));
  Mask result = mask;
  set_weights(result, weights, number_of(is_exact ? sum : 1), number_of(mask.offset, mask.divisor));
  return result;
}

}  // namespace convfilt
