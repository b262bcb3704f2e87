#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include "src/mask/number.hpp"

TEST_CASE("rational numbers notice overflow") {
  using convfilt::make_rational;
  using convfilt::Rational;
  constexpr std::int64_t kMost = INT64_MAX;
  CHECK(make_rational(6, -4) == Rational{-3, 2});
  CHECK(make_rational(0, -7) == Rational{0, 1});
  CHECK_FALSE(make_rational(1, 0).has_value());
  CHECK_FALSE(make_rational(__int128{kMost} + 1, 1).has_value());
  CHECK(make_rational(__int128{kMost} * 6, 3) == std::nullopt);
  CHECK(make_rational(__int128{kMost} * 6, 6) == Rational{kMost, 1});
  CHECK(convfilt::quotient({kMost, 1}, {1, 2}) == std::nullopt);
  CHECK(convfilt::quotient({kMost, 3}, {-kMost, 5}) == Rational{-5, 3});
  CHECK(convfilt::quotient({1, 1}, {0, 1}) == std::nullopt);
  CHECK(convfilt::multiple_of(1 / 3.0, 9) == Rational{1, 3});
  CHECK(convfilt::multiple_of(0.3, 9) == std::nullopt);
}
