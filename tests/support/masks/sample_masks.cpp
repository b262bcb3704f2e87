#include "tests/support/masks/sample_masks.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace convfilt::test {
namespace {

std::string sized(const char* kind, int width, int height) {
  return std::string(kind) + std::to_string(width) + "x" + std::to_string(height);
}

Mask generated(const char* kind, int width, int height, const std::function<double(int, int)>& at) {
  std::vector<double> weights;
  for (int j = 0; j < height; ++j) {
    for (int i = 0; i < width; ++i) weights.push_back(at(i, j));
  }
  return make_mask(sized(kind, width, height), width, height, std::move(weights));
}

// Divides the weights themselves, so that they are reals rather than integers over a divisor.
Mask divided(Mask mask, double by) {
  for (double& w : mask.weights) w /= by;
  return mask;
}

std::vector<double> reals(Random& random, int count) {
  std::vector<double> values(count);
  for (double& v : values) v = random.real(-1, 1);
  return values;
}

}  // namespace

Mask identity_mask(int side) {
  return generated("identity", side, side,
                   [&](int i, int j) { return i == side / 2 && j == side / 2 ? 1 : 0; });
}

Mask box_mask(int width, int height) {
  Mask mask = generated("box", width, height, [](int, int) { return 1; });
  mask.divisor = width * height;
  return mask;
}

Mask gaussian_mask(int width, int height, double sigma) {
  const Mask mask = generated("gaussian", width, height, [&](int i, int j) {
    const double dx = i - width / 2, dy = j - height / 2;
    return std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma));
  });
  return divided(mask, gain(mask));
}

Mask sharpen_mask(int side, double amount, double sigma) {
  Mask mask = gaussian_mask(side, side, sigma);
  for (double& w : mask.weights) w *= -amount;
  mask.weights[mask.weights.size() / 2] += 1 + amount;
  mask.name = sized("sharpen", side, side);
  return mask;
}

Mask integer_mask(Random& random, int width, int height, int limit, double divisor, double offset) {
  Mask mask =
      generated("integers", width, height, [&](int, int) { return random.integer(-limit, limit); });
  mask.divisor = divisor;
  mask.offset = offset;
  return mask;
}

Mask real_mask(Random& random, int width, int height, double offset) {
  const Mask mask = generated("reals", width, height, [&](int, int) { return random.real(-1, 1); });
  Mask scaled = divided(mask, absolute_gain(mask));
  scaled.offset = offset;
  return scaled;
}

Mask normalised_mask(Random& random, int width, int height) {
  const Mask mask =
      generated("normalised", width, height, [&](int, int) { return random.real(0, 1); });
  return divided(mask, gain(mask));
}

Mask integer_rank_one_mask(Random& random, int width, int height, int limit, double divisor) {
  std::vector<double> row(width), column(height);
  for (double& r : row) r = random.integer(-limit, limit);
  for (double& c : column) c = random.integer(-limit, limit);
  row[0] = column[height / 2] = 1;  // never all zero
  Mask mask = generated("rank-one-integers", width, height,
                        [&](int i, int j) { return row[i] * column[j]; });
  mask.divisor = divisor;
  return mask;
}

Mask real_rank_one_mask(Random& random, int width, int height) {
  const auto row = reals(random, width), column = reals(random, height);
  const Mask mask =
      generated("rank-one-reals", width, height, [&](int i, int j) { return row[i] * column[j]; });
  return divided(mask, absolute_gain(mask));
}

Mask real_low_rank_mask(Random& random, int width, int height, int terms) {
  Mask mask = real_rank_one_mask(random, width, height);
  for (int t = 1; t < terms; ++t) {
    const Mask next = real_rank_one_mask(random, width, height);
    for (std::size_t k = 0; k < mask.weights.size(); ++k) {
      mask.weights[k] += std::ldexp(next.weights[k], -t);
    }
  }
  mask.name = sized("low-rank-reals", width, height);
  return mask;
}

Mask anchored(Mask mask, int anchor_x, int anchor_y) {
  mask.anchor_x = anchor_x;
  mask.anchor_y = anchor_y;
  mask.name += '@';
  mask.name += std::to_string(anchor_x);
  mask.name += ',';
  mask.name += std::to_string(anchor_y);
  return mask;
}

std::vector<Mask> small_masks() {
  Random random(1);
  return {
      integer_mask(random, 3, 3, 9, 16, 3),
      make_mask("tie", 2, 2, {1, 1, 1, 1}, 4),  // a quarter of all sums are ties
      make_mask("sobel", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, 8, 128),
      anchored(normalised_mask(random, 3, 1), 0, 0),
      anchored(real_mask(random, 2, 4, 40), 1, 3),
      gaussian_mask(7, 7, 1.5),  // larger than the picture
      integer_rank_one_mask(random, 1, 5, 3, 7),
  };
}

std::vector<Mask> varied_masks() {
  Random random(2);
  std::vector<Mask> masks = {
      identity_mask(1),
      identity_mask(5),
      box_mask(3, 3),
      box_mask(5, 5),
      make_mask("pair", 2, 1, {1, 1}, 2),
      make_mask("pair", 1, 2, {1, 1}, 2),
      make_mask("zeros", 3, 3, std::vector<double>(9), 1, 100),
      make_mask("laplacian", 3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}, 2, 127.5),
      make_mask("bright", 3, 3, std::vector<double>(9, 1.0 / 9), 1, 1e12),  // all saturate
      make_mask("thirds", 3, 1, {1, 1, 1}, 2.5),  // integers, but not over an integer
      make_mask("decimals", 3, 3, std::vector<double>(9, 0.111), 1, 0.25),
      make_mask("huge", 2, 2, {1e7, -3e6, 2.5, 1}),  // 8-bit arithmetic refuses it
      make_mask("wide-range", 3, 1, {20000.5, -40000, 20000}),
      gaussian_mask(5, 5, 1.1),
      gaussian_mask(15, 15, 2.5),
      gaussian_mask(31, 31, 5),
      gaussian_mask(6, 9, 2),
      sharpen_mask(5, 0.5, 1),
      sharpen_mask(9, 2, 1.5),
      sharpen_mask(15, 1, 2.5),
      sharpen_mask(15, 8, 2.5),
      integer_mask(random, 31, 31, 100, 9610),
      integer_mask(random, 1, 1, 9, 2),
      normalised_mask(random, 15, 15),
      normalised_mask(random, 31, 31),
      normalised_mask(random, 31, 2),
      real_mask(random, 1, 31, 128),
      real_mask(random, 31, 1, 128),
  };
  for (auto [width, height] : {std::pair{3, 3}, {2, 5}, {8, 4}, {7, 7}, {11, 3}}) {
    for (auto [x, y] :
         {std::pair{0, 0}, {width - 1, 0}, {0, height - 1}, {width - 1, height - 1}}) {
      const double divisor = random.integer(1, 20) * width * height;
      masks.push_back(anchored(integer_mask(random, width, height, 20, divisor, 64), x, y));
    }
    masks.push_back(integer_mask(random, width, height, 3, 1 << random.integer(0, 8)));
    masks.push_back(real_mask(random, width, height, 100.3));
    masks.push_back(normalised_mask(random, width, height));
    masks.push_back(integer_rank_one_mask(random, width, height, 9, 100));
    masks.push_back(anchored(real_rank_one_mask(random, width, height), width - 1, 0));
  }
  masks.push_back(real_low_rank_mask(random, 22, 19, 2));
  masks.push_back(anchored(real_low_rank_mask(random, 18, 27, 3), 0, 26));
  return masks;
}

std::vector<Mask> large_masks() {
  Random random(3);
  return {
      integer_mask(random, 33, 33, 50, 5000, 100),
      gaussian_mask(33, 33, 6),
      normalised_mask(random, 40, 3),
      anchored(integer_rank_one_mask(random, 3, 70, 5, 300), 0, 69),
      box_mask(101, 1),
      anchored(real_mask(random, 32, 32, 90), 31, 0),
      sharpen_mask(63, 1, 10),
      real_rank_one_mask(random, 64, 35),
      anchored(real_low_rank_mask(random, 45, 38, 3), 44, 1),
      gaussian_mask(101, 97, 17),  // smooth enough for coarse at every depth
  };
}

Mask diagonal_mask(int side) {
  std::vector<double> weights(std::size_t(side) * side);
  for (int i = 0; i < side; ++i) weights[std::size_t(i) * side + i] = 1;
  return make_mask("diagonal", side, side, weights, side);
}

}  // namespace convfilt::test
