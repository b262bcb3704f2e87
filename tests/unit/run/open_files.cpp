/// The limit of open files goes up to what is wanted, and never down.
#include "src/run/open_files.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

using namespace convfilt;

TEST_CASE("the limit of open files is raised as far as may be, and never lowered") {
  struct Kept {
    rlimit limit{};
    Kept() { REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0); }
    ~Kept() { setrlimit(RLIMIT_NOFILE, &limit); }
  } kept;
  const auto now = [] {
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    return limit.rlim_cur;
  };
  const rlim_t most = kept.limit.rlim_max;
  REQUIRE(most > 200);
  rlimit low = kept.limit;
  low.rlim_cur = 100;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(allow_open_files(150) == 150);
  CHECK(now() == 150);
  CHECK(allow_open_files(50) == 150);
  CHECK(now() == 150);
  if (most == RLIM_INFINITY) return;
  CHECK(allow_open_files(most + 1) == most);
  CHECK(now() == most);
}
