/// What the library's plans say of themselves.
#include <doctest/doctest.h>
#include <malloc.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/auto/machine.hpp"
#include "src/library/convfilt.hpp"
#include "src/mask/make.hpp"
#include "tests/support/environment.hpp"

using namespace convfilt;

TEST_CASE("a plan says how much host memory it keeps") {
#ifdef __SANITIZE_ADDRESS__
  MESSAGE("skipped: mallinfo2() does not count AddressSanitizer's memory");
  return;
#endif
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return double(info.uordblks) + double(info.hblkhd);
  };
  std::int64_t most = 0;
  for (const Strategy* strategy : this_machine().strategies) {
    if (!strategy->runs_on(DeviceKind::cpu)) continue;
    const bool takes_large = std::string(strategy->name) == "coarse";
    for (const double sigma : {0.25, 2.0, takes_large ? 30.0 : 3.0}) {
      for (const int side : {300, 500}) {
        if (side == 500 && sigma < 3 && !test::full_size()) continue;
        Problem problem;
        problem.width = problem.height = side;
        problem.channels = 3;
        problem.mask = gaussian_mask(sigma);
        if (!strategy->refuses(problem, {}).empty()) continue;
        PlanRequest request;
        request.strategy = strategy->name;
        request.device = "cpu";
        request.threads = 1;
        std::vector<std::byte> in(std::size_t(side) * side * 3), out(in.size());
        const std::ptrdiff_t pitch = side * std::ptrdiff_t{3};
        CAPTURE(strategy->name);
        CAPTURE(sigma);
        CAPTURE(side);
        const std::unique_ptr<Plan> plan = make_plan(problem, request);
        const double before = in_use();
        plan->run({in.data(), side, side, 3, pitch}, {out.data(), side, side, 3, pitch});
        const double kept = in_use() - before;
        const double said = double(plan->host_bytes());
        most = std::max(most, plan->host_bytes());
        // Buffers of a few rows are not counted.
        CHECK(kept <= 1.05 * said + 2e6);
        CHECK(said <= 1.3 * kept + 1e6);
      }
    }
  }
  CHECK(most > 10'000'000);
}
