/// What only a machine with a GPU and much memory can show: offsets beyond 2^31, and a device whose
/// memory is really full. tests/gpu.sh runs this, and sets CONVFILT_TEST_LARGE.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "kernels/backend/devices.hpp"
#include "kernels/registry.hpp"
#include "tests/support/environment.hpp"

using namespace convfilt;
using namespace convfilt::test;

namespace {

bool too_small_here() {
  const char* asked = std::getenv("CONVFILT_TEST_LARGE");
  const bool skip = !asked || !*asked || !cuda_missing().empty();
  if (skip)
    MESSAGE("skipped: large pictures want a GPU, 16 GB of memory and CONVFILT_TEST_LARGE=1");
  return skip;
}

/// A colour picture of noise, and one for the result that starts out as something else.
struct Pictures {
  int width, height;
  std::vector<std::byte> in, out;

  Pictures(int width_, int height_)
      : width(width_), height(height_), in(std::size_t(width_) * height_ * 3), out(in.size()) {
    std::mt19937_64 random(1);
    for (std::size_t at = 0; at + 8 <= in.size(); at += 8) {
      const std::uint64_t word = random();
      std::memcpy(&in[at], &word, 8);
    }
  }

  Timing run(Plan& plan, std::vector<std::byte>& to) {
    std::memset(to.data(), 0x5a, to.size());
    return plan.run({in.data(), width, height, 3, std::ptrdiff_t(width) * 3},
                    {to.data(), width, height, 3, std::ptrdiff_t(width) * 3});
  }
};

Problem problem_of(const Pictures& pictures) {
  Problem problem;
  problem.width = pictures.width;
  problem.height = pictures.height;
  problem.channels = 3;
  problem.mask = make_mask("hollow", 3, 3, {1, 2, 1, 2, 0, 2, 1, 2, 1}, 12);
  return problem;
}

}  // namespace

TEST_CASE("a picture of more than 2^31 samples") {
  if (too_small_here()) return;
  Pictures pictures(24000, 30000);
  const Problem problem = problem_of(pictures);
  std::vector<std::byte> expected(pictures.in.size());
  pictures.run(*find_strategy("cpu")->prepare(problem, DeviceKind::cpu), expected);
  for (const char* name : {"basic", "tiled-out", "texture"}) {
    INFO(name);
    const auto plan = find_strategy(name)->prepare(problem, DeviceKind::cuda);
    CHECK(pictures.run(*plan, pictures.out).bands == 1);
    CHECK(pictures.out == expected);
  }
}

TEST_CASE("a device that is nearly full filters in bands, with the same bytes") {
  if (too_small_here()) return;
  // Plans that keep their planes hold the memory: each as much as it can get.
  std::vector<std::unique_ptr<Plan>> holders;
  for (std::size_t bytes = cuda_devices().devices[0].memory; bytes > (std::size_t(64) << 20);) {
    Problem holder;
    holder.depth = Depth::f32;
    holder.width = 1 << 15;
    holder.height = int(bytes / 2 / (std::size_t(4) << 15));  // an input and an output plane
    holder.mask = make_mask("one", 1, 1, {1});
    auto plan = find_strategy("basic")->prepare(holder, DeviceKind::cuda);
    if (plan->time_resident({}, 1).empty()) {
      bytes /= 2;
    } else {
      holders.push_back(std::move(plan));
    }
  }
  REQUIRE(holders.size() >= 2);
  Pictures pictures(12000, 10000);
  const Problem problem = problem_of(pictures);
  std::vector<std::byte> expected(pictures.in.size());
  pictures.run(*find_strategy("cpu")->prepare(problem, DeviceKind::cpu), expected);
  for (const char* name : {"tiled-in", "cached"}) {
    INFO(name);
    const auto plan = find_strategy(name)->prepare(problem, DeviceKind::cuda);
    const Timing timing = pictures.run(*plan, pictures.out);
    MESSAGE(name << " filtered in " << timing.bands << " bands");
    CHECK(timing.bands > 1);
    CHECK(pictures.out == expected);
  }
}
