/// What is said of a folder while it is filtered.
#include "src/batch/tell.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace convfilt;

TEST_CASE("the line of progress says how much is done, how fast, and what is left") {
  CHECK(progress_text(0, 8, 0, 0, 0) == "[>                       ]  0/8");
  // Two pictures a second, and 6 are left.
  CHECK(progress_text(2, 8, 2, 3'000'000, 1) ==
        "[======>                 ]  2/8  2.0/s  3.0 MB/s  0:03 left");
  CHECK(progress_text(1, 7201, 1, 0, 1) ==
        "[>                       ]  1/7201  1.0/s  0.0 MB/s  2:00:00 left");
  CHECK(progress_text(8, 8, 8, 0, 4) ==
        "[========================]  8/8  2.0/s  0.0 MB/s  0:00 left");
}
