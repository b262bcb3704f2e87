#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/base/suggest.hpp"

TEST_CASE("nearest words") {
  using convfilt::edit_distance;
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("ca", "abc") == 3);
  CHECK(edit_distance("BLUR", "blur") == 0);
  const std::vector<std::string> words = {"basic", "tiled-in", "tiled-out", "cached", "cpu"};
  CHECK(convfilt::nearest("tield-in", words) == "tiled-in");
  CHECK(convfilt::nearest("tiled", words) == "tiled-in");
  CHECK(convfilt::nearest("gpu", words) == "cpu");
  CHECK(convfilt::nearest("x", words).empty());
  CHECK(convfilt::nearest("", words).empty());
  CHECK(convfilt::nearest("sharpen", words).empty());
  CHECK(convfilt::nearest(std::string(100000, 'a'), words).empty());
  CHECK(convfilt::nearest("tiled-ot", words) == "tiled-out");
  // Equally near words keep their order, whatever stands between them; up to three are named.
  const std::vector<std::string> alike = {"tiled-x", "tiled-ab", "tiled-b", "tiled-a", "tiled-c"};
  CHECK(convfilt::nearest("tiled-", alike) == "tiled-x");
  CHECK(convfilt::did_you_mean("tiled-", alike) ==
        "; did you mean 'tiled-x', 'tiled-b' or 'tiled-a'?");
  CHECK(convfilt::did_you_mean("tiled-ot", words) == "; did you mean 'tiled-out'?");
}
