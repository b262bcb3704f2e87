/// What strategy coarse takes, and what it refuses.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "kernels/coarse/mask.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {

TEST_CASE("Gaussians of any sigma from 16 on are taken at every depth") {
  for (const auto& [number, d, kept, sigma] :
       combinations(kDepths, std::array{3.0, 4.0}, std::array{16.0, 20.0, 33.0, 75.0, 128.0})) {
    const int side = 2 * int(kept * sigma) + 1;
    const Problem p{8192, 8192, 1, d, Border::replicate, 0, gaussian_mask(side, side, sigma)};
    INFO(name_of(d) << ", sigma " << sigma << ", side " << side);
    CHECK(coarse::refuses(p) == "");
  }
}

TEST_CASE("what is not smooth, not of rank 1, or too small is refused with the reason") {
  const auto reason = [](const Mask& mask, Depth depth = Depth::u8) {
    return coarse::refuses({64, 64, 1, depth, Border::replicate, 0, mask});
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != text.npos;
  };
  Random random(102);
  CHECK(has(reason(box_mask(101, 101), Depth::u16), "not smooth enough"));
  CHECK(has(reason(real_rank_one_mask(random, 64, 64)), "not smooth enough"));
  CHECK(has(reason(gaussian_mask(101, 1, 16)), "not smooth enough"));
  CHECK(has(reason(gaussian_mask(9, 9, 1.5)), "0.1 is allowed"));
  CHECK(has(reason(gaussian_mask(31, 31, 5), Depth::u16), "of a step off, and 0.49 is allowed"));
  CHECK(has(reason(gaussian_mask(31, 31, 5), Depth::f32), "of the largest sample off"));
  CHECK(has(reason(sharpen_mask(101, 1, 16)), "rank is not 1"));
  CHECK(has(reason(make_mask("zeros", 65, 65, std::vector<double>(65 * 65))), "all 0"));
  Mask huge = gaussian_mask(101, 101, 16);
  for (double& w : huge.weights) w *= 1e6;
  CHECK(has(reason(huge, Depth::u16), "so large"));
  CHECK(reason(gaussian_mask(101, 101, 16)) == "");
}

}  // namespace convfilt::test
