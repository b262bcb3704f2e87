/// Every mask in filters/, at every depth, by every strategy.
#include <doctest/doctest.h>

#include <vector>

#include "src/mask/file.hpp"
#include "tests/support/compare.hpp"

namespace convfilt::test {

TEST_CASE("every filter") {
  std::vector<Mask> masks;
  for (const auto& filter : list_filters()) masks.push_back(load_mask(filter.name));
  CHECK_FALSE(masks.empty());
  for (const Case& c : cases_of_masks(masks)) check_case(c);
}

}  // namespace convfilt::test
