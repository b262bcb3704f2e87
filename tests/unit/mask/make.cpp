#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/mask/make.hpp"
#include "src/mask/text.hpp"

using convfilt::Mask;
using convfilt::UsageError;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sum of weight * f(x, y) / divisor, x and y from the anchor.
template <class F>
double response(const Mask& mask, F f) {
  double sum = 0;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      sum += mask.weight(i, j) * f(double(i - mask.anchor_x), double(j - mask.anchor_y));
    }
  }
  return sum / mask.divisor;
}

bool all_finite(const Mask& mask) {
  for (double weight : mask.weights) {
    if (!std::isfinite(weight)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("gaussian: size, gain, symmetry and the sampled formula") {
  for (double sigma : {0.05, 0.3, 0.5, 1.0, 2.0, 3.7, 40.0, 128.0}) {
    CAPTURE(sigma);
    const Mask mask = convfilt::gaussian_mask(sigma);
    const int radius = std::max(1, int(std::ceil(4 * sigma)));
    REQUIRE(mask.width == 2 * radius + 1);
    REQUIRE(mask.height == mask.width);
    CHECK(mask.anchor_x == radius);
    CHECK(mask.anchor_y == radius);
    CHECK(convfilt::gain(mask) == doctest::Approx(1).epsilon(1e-14));
    CHECK(mask.weight(0, 1) == mask.weight(1, 0));
    CHECK(mask.weight(0, 0) == mask.weight(2 * radius, 2 * radius));
    const double ratio = mask.weight(radius + 1, radius) / mask.weight(radius, radius);
    CHECK(ratio == doctest::Approx(std::exp(-0.5 / (sigma * sigma))).epsilon(1e-13));
  }
}

TEST_CASE("gaussian: rank 1 up to rounding") {
  const Mask mask = convfilt::gaussian_mask(2);
  const int middle = mask.width / 2;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      const double product = mask.weight(i, middle) * mask.weight(middle, j);
      CHECK(mask.weight(i, j) * mask.weight(middle, middle) ==
            doctest::Approx(product).epsilon(1e-14));
    }
  }
}

TEST_CASE("gaussian: near the untruncated one, 0.05 of a step of 8 bits at most") {
  for (double sigma : {0.5, 1.0, 2.0, 10.0}) {
    CAPTURE(sigma);
    const Mask mask = convfilt::gaussian_mask(sigma);
    const int radius = mask.width / 2, far = int(std::ceil(12 * sigma)) + 1;
    double sum = 0;
    for (int x = -far; x <= far; ++x) sum += std::exp(-0.5 * x * x / (sigma * sigma));
    // The worst picture is 255 where the mask is too small or too large, and 0 elsewhere.
    double inside = 0, covered = 0;
    for (int y = -radius; y <= radius; ++y) {
      for (int x = -radius; x <= radius; ++x) {
        const double exact = std::exp(-0.5 * (x * x + y * y) / (sigma * sigma)) / (sum * sum);
        covered += exact;
        inside += std::abs(mask.weight(x + radius, y + radius) - exact);
      }
    }
    CHECK(255 * std::max(inside, 1 - covered) < 0.05);
  }
}

TEST_CASE("a vanishing sigma gives the identity, an impossible one an error") {
  for (double sigma : {0.05, 1e-5, 1e-200, 5e-324}) {
    CAPTURE(sigma);
    const Mask mask = convfilt::gaussian_mask(sigma);
    CHECK(mask.width == 3);
    CHECK(mask.weight(1, 1) == doctest::Approx(1).epsilon(1e-15));
    CHECK(all_finite(mask));
    CHECK(all_finite(convfilt::sharpen_mask(1, sigma)));
    CHECK(all_finite(convfilt::log_mask(sigma)));
  }
  CHECK(convfilt::gaussian_mask(128).width == convfilt::kMaxMaskSide);
  for (double sigma : {0.0, -1.0, 128.01, 1e300, kNaN, kInfinity}) {
    CAPTURE(sigma);
    CHECK_THROWS_AS(convfilt::gaussian_mask(sigma), UsageError);
    CHECK_THROWS_AS(convfilt::sharpen_mask(1, sigma), UsageError);
    CHECK_THROWS_AS(convfilt::log_mask(sigma), UsageError);
  }
  CHECK_THROWS_WITH(convfilt::gaussian_mask(200),
                    "sigma 200 is impossible; give one above 0 and up to 128, where the mask is "
                    "1025 pixels wide");
}

TEST_CASE("box: ones over their number") {
  for (int side : {1, 2, 3, 4, 15, 1025}) {
    CAPTURE(side);
    const Mask mask = convfilt::box_mask(side);
    CHECK(mask.width == side);
    CHECK(mask.height == side);
    CHECK(mask.anchor_x == side / 2);
    CHECK(mask.weights == std::vector<double>(std::size_t(side) * side, 1));
    CHECK(mask.divisor == double(side) * side);
  }
  for (int side : {0, -3, 1026}) CHECK_THROWS_AS(convfilt::box_mask(side), UsageError);
}

TEST_CASE("sharpen: identity plus amount times what the Gaussian takes away") {
  const Mask gauss = convfilt::gaussian_mask(1.5), mask = convfilt::sharpen_mask(0.8, 1.5);
  REQUIRE(mask.width == gauss.width);
  const int middle = mask.width / 2;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      const double identity = i == middle && j == middle ? 1 : 0;
      CHECK(mask.weight(i, j) ==
            doctest::Approx(1.8 * identity - 0.8 * gauss.weight(i, j)).epsilon(1e-14));
    }
  }
  CHECK(convfilt::gain(mask) == doctest::Approx(1).epsilon(1e-14));
  CHECK(convfilt::sharpen_mask(0, 1).weight(4, 4) == 1);
  for (double amount : {-0.1, kNaN, kInfinity}) {
    CHECK_THROWS_AS(convfilt::sharpen_mask(amount, 1), UsageError);
  }
}

TEST_CASE("log: 0 on planes, the Laplacian on a paraboloid, negative in the middle") {
  for (double sigma : {0.05, 0.4, 1.0, 1.4, 2.0, 5.0, 30.0, 128.0}) {
    CAPTURE(sigma);
    const Mask mask = convfilt::log_mask(sigma);
    CHECK(std::abs(convfilt::gain(mask)) <= 1e-13 * convfilt::absolute_gain(mask));
    CHECK(response(mask, [](double x, double y) { return 3 * x - y; }) ==
          doctest::Approx(0).epsilon(1e-9));
    CHECK(response(mask, [](double x, double y) { return (x * x + y * y) / 2; }) ==
          doctest::Approx(2).epsilon(1e-9));
    CHECK(mask.weight(mask.width / 2, mask.height / 2) < 0);
  }
  // Where sampling is fine, the mask is the formula itself, within the two small corrections.
  const double sigma = 2;
  const Mask mask = convfilt::log_mask(sigma);
  const auto formula = [&](double x, double y) {
    const double r2 = x * x + y * y, s2 = sigma * sigma;
    return (r2 - 2 * s2) / (2 * std::acos(-1.0) * s2 * s2 * s2) * std::exp(-r2 / (2 * s2));
  };
  const double middle = std::abs(formula(0, 0));
  for (int y = -8; y <= 8; ++y) {
    for (int x = -8; x <= 8; ++x) {
      CHECK(std::abs(mask.weight(x + 8, y + 8) - formula(x, y)) < 0.03 * middle);
    }
  }
}

TEST_CASE("normalized: a gain of 1, integers stay integers, the offset stays") {
  const auto normal = [](std::string_view text) {
    return convfilt::normalized(convfilt::parse_mask(text, "t.txt"));
  };
  const Mask binomial = normal("1 2 1\n2 4 2\n1 2 1");
  CHECK(binomial.weights == std::vector<double>{1, 2, 1, 2, 4, 2, 1, 2, 1});
  CHECK(binomial.divisor == 16);
  const Mask scaled = normal("scale: 7\noffset: 128\n1 2");
  CHECK(scaled.weights == std::vector<double>{1, 2});
  CHECK(scaled.divisor == 3);
  CHECK(scaled.offset == 128);
  const Mask negative = normal("1 -4");
  CHECK(negative.weights == std::vector<double>{-1, 4});
  CHECK(negative.divisor == 3);
  const Mask half = normal("offset: 0.5\n1 1 1");
  CHECK(half.offset == 0.5);
  CHECK(half.divisor == 6);
  CHECK(half.weights == std::vector<double>{2, 2, 2});
  const Mask doubles = normal("anchor: 1 0\n1e-30 0.3 1/7");
  CHECK(convfilt::gain(doubles) == doctest::Approx(1).epsilon(1e-15));
  CHECK(doubles.anchor_x == 1);
  const Mask sobel = normal("-1 0 1\n-2 0 2\n-1 0 1");
  CHECK(sobel.weights == std::vector<double>{-1, 0, 1, -2, 0, 2, -1, 0, 1});
  CHECK(sobel.divisor == 4);
  const Mask nearly = normal("1e-30 0.1 0.2 -0.30000000000000004");
  CHECK(nearly.weights[3] / nearly.divisor == doctest::Approx(-1));
  CHECK_THROWS_AS(normal("0"), UsageError);
  // The sum of the weights need not be a double.
  CHECK(normal("1e308 1e308").weights == std::vector<double>{1, 1});
  CHECK(normal("1e308 1e308").divisor == 2);
  CHECK(normal("1e308 -1e308 2").weight(1, 0) == -1);
  CHECK(convfilt::gain(normal("1.5e308 1.5e308 1.5e308 -1e308")) == doctest::Approx(1));
}

TEST_CASE("gaussian of two sigmas: the product of its rows and columns, and 0 leaves an axis") {
  const Mask mask = convfilt::gaussian_mask(3, 0.7);
  const Mask wide = convfilt::gaussian_mask(3), narrow = convfilt::gaussian_mask(0.7);
  REQUIRE(mask.width == wide.width);
  REQUIRE(mask.height == narrow.height);
  const auto share = [](const Mask& m, int i) {
    double sum = 0;
    for (int j = 0; j < m.height; ++j) sum += m.weight(i, j);
    return sum;
  };
  for (int j = 0; j < mask.height; ++j)
    for (int i = 0; i < mask.width; ++i)
      CHECK(mask.weight(i, j) == doctest::Approx(share(wide, i) * share(narrow, j)).epsilon(1e-13));
  CHECK(convfilt::gaussian_mask(3, 0).height == 1);
  CHECK(convfilt::gaussian_mask(0, 3).width == 1);
  CHECK(convfilt::gain(convfilt::gaussian_mask(0, 3)) == doctest::Approx(1).epsilon(1e-14));
  CHECK(convfilt::gaussian_mask(2, 2).name == convfilt::gaussian_mask(2).name);
  CHECK_THROWS_AS(convfilt::gaussian_mask(0, 0), UsageError);
  CHECK_THROWS_AS(convfilt::gaussian_mask(-1, 2), UsageError);
}

TEST_CASE("binomial: convolutions of 1 1, exact to the largest") {
  for (int side : {1, 2, 3, 5, 12, convfilt::kMaxBinomialSide}) {
    CAPTURE(side);
    std::vector<long long> line{1};
    while (int(line.size()) < side) {
      line.push_back(0);
      for (std::size_t k = line.size() - 1; k > 0; --k) line[k] += line[k - 1];
    }
    const Mask mask = convfilt::binomial_mask(side);
    REQUIRE(mask.width == side);
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i)
        CHECK((long long)(mask.weight(i, j) / mask.divisor * std::pow(4.0, side - 1)) ==
              line[std::size_t(i)] * line[std::size_t(j)]);
    CHECK(convfilt::gain(mask) == 1);
  }
  CHECK_THROWS_AS(convfilt::binomial_mask(0), UsageError);
  CHECK_THROWS_AS(convfilt::binomial_mask(28), UsageError);
}

TEST_CASE("highpass and difference of Gaussians: what they keep and what they take") {
  for (double sigma : {0.5, 1.0, 3.0, 20.0}) {
    CAPTURE(sigma);
    const Mask gaussian = convfilt::gaussian_mask(sigma);
    const Mask high = convfilt::highpass_mask(sigma);
    const Mask dog = convfilt::dog_mask(sigma, 1.6 * sigma);
    const Mask outer = convfilt::gaussian_mask(1.6 * sigma);
    const auto wave = [&](double x, double y) { return std::cos(0.9 * x / sigma + 0.3 * y); };
    CHECK(response(high, wave) == doctest::Approx(1 - response(gaussian, wave)).epsilon(1e-12));
    CHECK(response(dog, wave) ==
          doctest::Approx(response(gaussian, wave) - response(outer, wave)).epsilon(1e-12));
    CHECK(std::abs(convfilt::gain(high)) < 1e-13);
    CHECK(std::abs(convfilt::gain(dog)) < 1e-13);
  }
  CHECK_THROWS_AS(convfilt::dog_mask(2, 2), UsageError);
  CHECK_THROWS_AS(convfilt::dog_mask(2, 129), UsageError);
  CHECK_THROWS_AS(convfilt::highpass_mask(0), UsageError);
}

TEST_CASE("gabor: blind for constants, 1 for its own wave, less for others") {
  for (double degrees : {0.0, 30.0, 90.0, 135.0})
    for (double phase : {0.0, 90.0}) {
      CAPTURE(degrees);
      CAPTURE(phase);
      const Mask mask = convfilt::gabor_mask({4, 8, degrees, phase, 0.5});
      const double angle = degrees * 3.14159265358979323846 / 180,
                   shift = phase * 3.14159265358979323846 / 180;
      const auto wave = [&](double turned, double wavelength) {
        return response(mask, [&](double x, double y) {
          const double along = x * std::cos(angle + turned) - y * std::sin(angle + turned);
          return std::cos(2 * 3.14159265358979323846 * along / wavelength + shift);
        });
      };
      CHECK(std::abs(convfilt::gain(mask)) < 1e-13);
      CHECK(wave(0, 8) == doctest::Approx(1).epsilon(1e-12));
      CHECK(std::abs(wave(1.5707963, 8)) < 0.05);
      CHECK(std::abs(wave(0, 3)) < 0.05);
    }
  CHECK_THROWS_AS(convfilt::gabor_mask({4, 1.9}), UsageError);
  CHECK_THROWS_AS(convfilt::gabor_mask({0.01, 8}), UsageError);
  CHECK_THROWS_AS(convfilt::gabor_mask({4, 8, kNaN}), UsageError);
  CHECK_THROWS_AS(convfilt::gabor_mask({4, 8, 0, 0, 0}), UsageError);
}
