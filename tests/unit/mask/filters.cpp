/// Every mask in filters/, at every depth and border, by every strategy.
#include <doctest/doctest.h>

#include "src/mask/file.hpp"
#include "tests/support/compare.hpp"

namespace convfilt::test {

TEST_CASE("every filter") {
  const auto filters = list_filters();
  CHECK_FALSE(filters.empty());
  for (const auto& filter : filters) {
    INFO(filter.name);
    for (const Case& c : cases_of_mask(load_mask(filter.name))) check_case(c);
  }
}

}  // namespace convfilt::test
