#include <doctest/doctest.h>

#include <clocale>
#include <cmath>
#include <locale>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/errors.hpp"
#include "src/mask/make.hpp"
#include "src/mask/shapes.hpp"
#include "src/mask/text.hpp"

using convfilt::Mask;
using convfilt::parse_mask;
using Weights = std::vector<double>;

namespace {

Mask grid(std::string_view text) {
  return parse_mask(text, "t.txt");
}

void check_same(const Mask& a, const Mask& b) {
  CHECK(a.name == b.name);
  CHECK(a.width == b.width);
  CHECK(a.height == b.height);
  CHECK(a.anchor_x == b.anchor_x);
  CHECK(a.anchor_y == b.anchor_y);
  CHECK(a.weights == b.weights);
  CHECK(a.divisor == b.divisor);
  CHECK(a.offset == b.offset);
}

}  // namespace

TEST_CASE("grid: sizes, separators, comments and the default anchor") {
  const Mask mask = grid("# two rows\n 1,2 ,\t3 # three\n\n4 5\t6\n");
  CHECK(mask.width == 3);
  CHECK(mask.height == 2);
  CHECK(mask.anchor_x == 1);
  CHECK(mask.anchor_y == 1);
  CHECK(mask.weights == Weights{1, 2, 3, 4, 5, 6});
  CHECK(mask.divisor == 1);
  CHECK(mask.offset == 0);
  CHECK(mask.name == "t");
  CHECK(grid("1 2 3 4").anchor_x == 2);
  CHECK(grid("1\n2\n3\n4\n5").height == 5);
  CHECK(grid("7").weights == Weights{7});
  CHECK(grid("\xef\xbb\xbf"
             "1 2\r\n3 4\r\n")
            .weights == Weights{1, 2, 3, 4});
  CHECK(grid("1 2\n3 4\r").weights == Weights{1, 2, 3, 4});
}

TEST_CASE("keys say scale, offset, anchor and name, wherever they stand") {
  const Mask mask = grid("1 2 1\nname: a b\nscale: 4\noffset : -0.5\nanchor: 2, 0\n");
  CHECK(mask.name == "a b");
  CHECK(mask.weights == Weights{1, 2, 1});
  CHECK(mask.divisor == 4);
  CHECK(mask.offset == -0.5);
  CHECK(mask.anchor_x == 2);
  CHECK(mask.anchor_y == 0);
}

TEST_CASE("numbers: integers, decimals, exponents, fractions, signs") {
  CHECK(grid("+1 -2 .5 5. 2e2 -1.5E-1 2/4 -2/3 007 -0").divisor == 60);
  CHECK(grid("+1 -2 .5 5. 2e2 -1.5E-1 2/4 -2/3 007 -0").weights ==
        Weights{60, -120, 30, 300, 12000, -9, 30, -40, 420, 0});
  CHECK_FALSE(std::signbit(grid("-0").weights[0]));
  CHECK_FALSE(std::signbit(grid("scale: -3\n0 1e300").weights[0]));
  CHECK(grid("0e99999999999").weights == Weights{0});
}

TEST_CASE("masks stay integers over a divisor where that is exact") {
  const auto check = [](std::string_view text, const Weights& weights, double divisor) {
    CAPTURE(text);
    const Mask mask = grid(text);
    CHECK(mask.weights == weights);
    CHECK(mask.divisor == divisor);
  };
  check("1/9 1/9 1/9\n1/9 1/9 1/9\n1/9 1/9 1/9", Weights(9, 1), 9);
  check("0.0625 0.125", {1, 2}, 16);
  check("scale: 2.5\n1 2", {2, 4}, 5);
  check("scale: 2/3\n1 2", {3, 6}, 2);
  check("scale: -4\n1 -2", {-1, 2}, 4);
  check("scale: 32\n2 4 2", {1, 2, 1}, 16);
  check("2 4 6", {2, 4, 6}, 1);
  check("0.1 0.20 0.3000", {1, 2, 3}, 10);
  check("0 0", {0, 0}, 1);
  check("2147483647", {2147483647.0}, 1);
  check("1/2147483647", {1}, 2147483647.0);
  // From 2^31 on, weights are doubles over 1.
  check("2147483648 1/3", {2147483648.0, 1 / 3.0}, 1);
  check("1/2147483648 1/3", {1 / 2147483648.0, 1 / 3.0}, 1);
  check("1/2147483648", {1 / 2147483648.0}, 1);
  check("2147483648/3", {2147483648.0 / 3}, 1);
  check("2147483647/3", {2147483647.0}, 3);
  check("offset: 1/2147483648\n0", {0}, 1);
  check("1/65537 1/65539 1/65521", {1 / 65537.0, 1 / 65539.0, 1 / 65521.0}, 1);
  check("1e300 1", {1e300, 1}, 1);
  check("scale: 2\n1e-30 1", {5e-31, 0.5}, 1);
  check("12345678901234567890123/2 1", {12345678901234567890123.0 / 2, 1}, 1);
  // This decimal has more digits than 64 bits hold, but its double is short.
  check("0.50000000000000000000000000001", {1}, 2);
}

TEST_CASE("the offset comes over the same divisor") {
  const Mask half = grid("offset: 0.5\nscale: 9\n1 1 1");
  CHECK(half.divisor == 18);
  CHECK(half.weights == Weights{2, 2, 2});
  CHECK(half.offset == 0.5);
  const Mask third = grid("offset: 1/3\n1");
  CHECK(third.divisor == 3);
  CHECK(third.offset == 1 / 3.0);
  const Mask large = grid("offset: 3000000000\n1/3");
  CHECK(large.divisor == 1);
  CHECK(large.offset == 3e9);
}

TEST_CASE("vips matrices") {
  const Mask mask = parse_mask("3 1 4 128\n1 2 1\n", "m.mat");
  CHECK(mask.weights == Weights{1, 2, 1});
  CHECK(mask.divisor == 4);
  CHECK(mask.offset == 128);
  CHECK(parse_mask("2 2\n1 2\n3 4", "m.MAT").height == 2);
  CHECK(parse_mask("3 3 9\n1 1 1\n1 1 1\n1 1 1", "m.mat").divisor == 9);
  // The content decides where it is no grid.
  CHECK(grid("3 2 9 0\n1 1 1\n1 1 1").divisor == 9);
  CHECK(grid("3 3\n1 1 1\n1 1 1\n1 1 1").height == 3);
  CHECK(grid("3 1\nanchor: 0 0\n1 1 1").anchor_x == 0);
}

TEST_CASE("a well-formed grid is a grid, and doubt is said") {
  std::string doubt = "old";
  CHECK(parse_mask("1 2\n3 4", "t.txt", &doubt).height == 2);
  CHECK(doubt.empty());
  CHECK(parse_mask("3 3 9\n1 1 1\n1 1 1\n1 1 1", "t.txt", &doubt).height == 4);
  CHECK(doubt.find("t.txt is read as a grid of 3x4 weights") == 0);
  CHECK(parse_mask("2 1\n3 4", "t.txt", &doubt).height == 2);
  CHECK_FALSE(doubt.empty());
  CHECK(parse_mask("scale: 1\n2 1\n3 4", "t.txt", &doubt).height == 2);
  CHECK(doubt.empty());
  CHECK(parse_mask("2 1\n3 4", "t.mat", &doubt).height == 1);
  CHECK(doubt.empty());
}

TEST_CASE("ImageMagick kernels") {
  const Mask mask = grid("# c\n3x2+2+0: 1,2,3\n 4, 5 6 # end\n");
  CHECK(mask.width == 3);
  CHECK(mask.height == 2);
  CHECK(mask.anchor_x == 2);
  CHECK(mask.anchor_y == 0);
  CHECK(mask.weights == Weights{1, 2, 3, 4, 5, 6});
  CHECK(grid("2x2:1,2,\n3,4\nscale: 10").divisor == 10);
  CHECK(grid("4x1: 1 1 1 1").anchor_x == 2);
}

TEST_CASE("a printed mask reads back as the same") {
  const std::vector<std::string> texts = {
      "1 2\n3 4",
      "2 1\n3 4",
      "scale: 7\noffset: 1/3\nanchor: 0 1\nname: x y\n1 0.5\n-1/9 3",
      "1e300 2e-300 0.1",
      "offset: 0.1\n3.0000001 1/3",
      "offset: 3000000000.7\n1/7",
      "0.12345678901234567 1",
      "offset:-.40000000000000163586\n-22/22222222222222222222221",
      "100000 1e15"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    const Mask mask = grid(text);
    check_same(grid(convfilt::print_mask(mask)), mask);
  }
  for (const std::string name : {"a # b", " a", "a ", "a\nb", "a\tb", "caf\xe9", ""}) {
    Mask odd = grid("1");
    odd.name = name;
    CHECK(convfilt::print_mask(odd).find("name") == std::string::npos);
  }
  // Masks that others were made of, too.
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const double unit = round % 2 == 0 ? std::acos(-1.0) : 0.1;
    std::vector<double> weights;
    for (int i = 0; i < 6; ++i) weights.push_back(double(int(random() % 9) - 3) * unit);
    weights[0] += 20 * unit;
    Mask mask = convfilt::make_mask("m", 3, 2, weights, 1 + round % 3);
    mask.anchor_x = round % 3;
    CAPTURE(round);
    mask = convfilt::normalized(mask);
    check_same(grid(convfilt::print_mask(mask)), mask);
    check_same(grid(convfilt::print_mask(convfilt::flipped(mask))), convfilt::flipped(mask));
  }
}

TEST_CASE("masks by formula are printed and read back as they are") {
  using namespace convfilt;
  const std::vector<Mask> masks = {disk_mask(0.5),          disk_mask(7.3),
                                   motion_mask(12.5, 77),   binomial_mask(27),
                                   binomial_mask(1),        gaussian_mask(0.1),
                                   gaussian_mask(2.7),      gaussian_mask(0, 3),
                                   gaussian_mask(1.1, 2.2), dog_mask(0.7, 3),
                                   highpass_mask(4),        log_mask(1.4),
                                   gabor_mask({3, 7, 30}),  gabor_mask({2, 5, 0, 90, 2})};
  for (const Mask& mask : masks) {
    CAPTURE(mask.name);
    CHECK(print_mask(mask).find("name: " + mask.name) == 0);
    check_same(grid(convfilt::print_mask(mask)), mask);
  }
}

TEST_CASE("the locale does not matter") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const std::locale global = std::locale::global(std::locale(std::locale(), new Comma));
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  }
  const Mask mask = grid("scale: 2500.5\n1.5 1234567.25");
  const std::string printed = convfilt::print_mask(mask);
  std::string message;
  try {
    grid(std::string(3000, '\n') + "x");
  } catch (const convfilt::IoError& error) {
    message = error.what();
  }
  std::locale::global(global);
  std::setlocale(LC_ALL, before.c_str());
  CHECK(mask.weights == Weights{6, 4938269});
  CHECK(mask.divisor == 10002);
  CHECK(printed.find("scale: 10002\n") != std::string::npos);
  CHECK(message.find("t.txt:3001:1:") == 0);
}
