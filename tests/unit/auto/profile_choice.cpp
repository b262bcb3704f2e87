/// What a profile may decide, and what it may not: an absurd one changes nothing but time.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "src/auto/choice.hpp"
#include "src/auto/family.hpp"
#include "src/lab/compare/contenders.hpp"
#include "src/mask/make.hpp"
#include "tests/support/device/with_warpgroups.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/profiles.hpp"

namespace convfilt::test {
namespace {

/// The registry as in a build with CUDA, whose kernels run in the emulator.
const std::vector<Strategy>& gpu_strategies() {
  static const std::vector<Strategy> all = [] {
    std::vector<Strategy> found;
    for (const Strategy* strategy : strategies()) {
      found.push_back(*strategy);
      if (strategy->prepare_emulator) found.back().prepare_cuda = strategy->prepare_emulator;
    }
    return found;
  }();
  return all;
}

struct Invented {
  CudaDevices cuda;
  std::vector<const Strategy*> strategies;
  std::vector<Profile> profiles;
  Machine machine;

  explicit Invented(std::vector<Profile> profiles_, int major = 9)
      : profiles(std::move(profiles_)) {
    cuda.devices.push_back({0, "invented", major, 0, 100, 1});
    for (const Strategy& strategy : gpu_strategies()) strategies.push_back(&strategy);
    machine = {strategies,
               8,
               true,
               [this]() -> const CudaDevices& { return cuda; },
               [] { return std::string(); },
               [this]() -> const std::vector<Profile>& { return profiles; }};
  }
  Invented(const Invented&) = delete;

  Choice choose(const Problem& problem) const {
    return convfilt::choose(problem, 1, {"auto", "cuda", 0, {}}, machine);
  }
};

/// Every strategy takes 2^10 times as long as the next in the registry, or the other way round, and
/// less time for larger masks and pictures. The favourite takes next to none.
std::vector<Profile> absurd(bool reversed, std::string_view favourite = "") {
  Profile profile = shipped_profiles().front();
  profile.gpu->name = "absurd";
  profile.gpu->context_seconds = 1e-9;
  profile.cpu.sample_u8 = profile.cpu.sample_wide = 1e3;
  profile.curves.clear();
  double ms = 1e12;
  for (const Strategy* strategy : strategies()) {
    ms /= 1024;
    double first = reversed ? 1 / ms : ms;
    if (strategy->name == favourite) first = 1e-99;
    for (const Depth depth : kDepths)
      for (const int channels : {1, 3})
        for (const int side : {100, 1000})
          profile.curves.push_back({std::string(strategy->name),
                                    depth,
                                    channels,
                                    "",
                                    side,
                                    side,
                                    {{9, first * 100 / side}, {1000, first * 10 / side}}});
  }
  return {profile};
}

Problem problem_of(int width, int channels, Depth depth, Mask mask) {
  return {width, width * 3 / 4,   channels,   depth,         Border::replicate,
          0,     std::move(mask), Mode::same, /*contrast=*/1};
}

std::vector<Mask> some_masks() {
  return {diagonal_mask(3),       diagonal_mask(9),           diagonal_mask(31),
          diagonal_mask(101),     diagonal_mask(301),         convfilt::box_mask(9),
          convfilt::box_mask(41), gaussian_mask_of(101, 101), gaussian_mask_of(301, 301)};
}

Image result_of(const Strategy& strategy, const Problem& problem, const Image& picture) {
  Image out(problem.out_width(), problem.out_height(), problem.channels, problem.depth);
  strategy.prepare(problem, DeviceKind::emulator)->run(picture.view(), out.view());
  return out;
}

bool same(const Image& one, const Image& other) {
  const std::size_t bytes = std::size_t(one.width()) * one.channels() * size_of(one.depth());
  for (int y = 0; y < one.height(); ++y)
    if (std::memcmp(one.view().row(y), other.view().row(y), bytes) != 0) return false;
  return true;
}

}  // namespace

TEST_CASE("a profile decides the strategy, never the family, and never among transforms") {
  const Invented usual(shipped_profiles()), wild(absurd(false)), wilder(absurd(true));
  int differing = 0, transforms = 0;
  for (const Mask& mask : some_masks())
    for (const Depth depth : kDepths)
      for (const int channels : {1, 3})
        for (const int width : {300, 640, 1500, 4096, 8192}) {
          const Problem problem = problem_of(width, channels, depth, mask);
          const Choice one = usual.choose(problem), other = wild.choose(problem),
                       third = wilder.choose(problem);
          INFO(to_string(problem));
          CHECK(one.strategy->family == family_for(problem));
          CHECK(other.strategy->family == one.strategy->family);
          CHECK(third.strategy->family == one.strategy->family);
          differing += other.strategy != third.strategy;
          if (one.strategy->family != Family::transform) continue;
          ++transforms;
          CHECK(other.strategy == one.strategy);
          CHECK(third.strategy == one.strategy);
        }
  CHECK(differing > 50);
  CHECK(transforms > 50);
}

// Wide enough for whole strips of tensor cores, whose warpgroups take part, too.
TEST_CASE("whatever a profile chooses, the bytes are the same") {
  std::vector<std::unique_ptr<Invented>> machines;
  machines.push_back(std::make_unique<Invented>(shipped_profiles()));
  machines.push_back(std::make_unique<Invented>(absurd(true)));
  for (const Strategy* strategy : strategies())
    machines.push_back(std::make_unique<Invented>(absurd(false, strategy->name)));
  std::map<std::string_view, int> chosen;
  for (const Mask& mask : {diagonal_mask(5), convfilt::box_mask(9)})
    for (const Depth depth : kDepths)
      for (const int channels : {1, 3})
        for (const int width : {72, 1024}) {
          Problem problem = problem_of(width, channels, depth, mask);
          problem.height = width < 100 ? 54 : 20;
          const Image picture = noise_picture(width, problem.height, channels, depth);
          const Image expected =
              result_of(*machines.front()->choose(problem).strategy, problem, picture);
          std::set<const Strategy*> seen;
          for (const auto& machine : machines) {
            const Strategy& strategy = *machine->choose(problem).strategy;
            if (!seen.insert(&strategy).second) continue;
            ++chosen[strategy.name];
            const WithWarpgroups with;
            INFO(strategy.name << " for " << to_string(problem));
            CHECK(same(result_of(strategy, problem, picture), expected));
          }
        }
  // Every strategy of the two families is somebody's choice, wherever it takes the problem.
  for (const Strategy* strategy : strategies())
    if (strategy->runs_on(DeviceKind::emulator) &&
        (strategy->family == Family::direct || strategy->family == Family::separable)) {
      const bool bytes_alone = strategy->name == "tensor" || strategy->name == "separable-tensor";
      INFO(strategy->name);
      CHECK(chosen[strategy->name] == (bytes_alone ? 4 : 12));
    }
}

TEST_CASE("-v says which profile spoke") {
  const Problem problem = problem_of(2048, 1, Depth::u8, diagonal_mask(9));
  const std::string why = Invented(absurd(false)).choose(problem).why;
  INFO(why);
  CHECK(why.find(" ms by the shipped profile of absurd, the nearest to this invented") !=
        std::string::npos);
  CHECK(why.find("H200") == std::string::npos);
}

TEST_CASE("without a profile, what needs the newest device, then the registry's last") {
  const Invented none(std::vector<Profile>{}), old(std::vector<Profile>{}, 7);
  CHECK(none.choose(problem_of(2048, 1, Depth::u8, diagonal_mask(9))).strategy->name == "tensor");
  CHECK(old.choose(problem_of(2048, 1, Depth::u8, diagonal_mask(9))).strategy->name == "direct");
  CHECK(none.choose(problem_of(2048, 1, Depth::f32, diagonal_mask(9))).strategy->name == "direct");
  CHECK(none.choose(problem_of(2048, 1, Depth::f32, convfilt::box_mask(9))).strategy->name ==
        "separable");
  CHECK(none.choose(problem_of(8192, 1, Depth::f32, diagonal_mask(101))).strategy->name ==
        "overlap-save");
}

TEST_CASE("in the emulator auto takes the textbook's best tile, or two passes in one kernel") {
  const Invented one(shipped_profiles());
  const auto name_of_choice = [&](const Mask& mask) {
    const Problem problem = problem_of(2048, 1, Depth::u8, mask);
    return convfilt::choose(problem, 1, {"auto", "emulator", 0, {}}, one.machine).strategy->name;
  };
  CHECK(name_of_choice(diagonal_mask(9)) == "tiled-out");
  CHECK(name_of_choice(convfilt::box_mask(9)) == "separable");
}

// Few multiprocessors work on a small picture, and those that walk down a strip do so for long.
TEST_CASE("an H200: small grey pictures are left to tiles, large ones to tensor cores") {
  const Invented h200(shipped_profiles());
  const auto name_at = [&](int width, int channels) {
    return h200.choose(problem_of(width, channels, Depth::u8, diagonal_mask(9))).strategy->name;
  };
  CHECK(name_at(64, 1) == "tiled-out");
  CHECK(name_at(640, 1) == "tiled-out");
  // Warps alone, of a build without code for sm_90a, are slower than direct on small pictures.
  CHECK(name_at(640, 3) == (has_warpgroups(h200.cuda.devices.front()) ? "tensor" : "direct"));
  CHECK(name_at(1024, 1) == "tensor");
  CHECK(name_at(8192, 1) == "tensor");
}

TEST_CASE(
    "among transforms: coarse grids for large smooth problems, blocks but for small pictures "
    "and huge masks") {
  const Invented one(shipped_profiles());
  const auto name_of_choice = [&](int width, const Mask& mask, Depth depth = Depth::f32) {
    return one.choose(problem_of(width, 1, depth, mask)).strategy->name;
  };
  CHECK(name_of_choice(4096, gaussian_mask_of(301, 301)) == "coarse");
  CHECK(name_of_choice(700, gaussian_mask_of(301, 301)) == "fft");
  // From 1.5 to 2.2 million samples, bytes alone are enough for coarse grids, or a huge mask.
  CHECK(name_of_choice(1800, gaussian_mask_of(151, 151)) == "coarse");
  CHECK(name_of_choice(1500, gaussian_mask_of(151, 151)) == "overlap-save");
  CHECK(name_of_choice(1500, gaussian_mask_of(151, 151), Depth::u8) == "coarse");
  CHECK(name_of_choice(1500, gaussian_mask_of(301, 301)) == "coarse");
  CHECK(name_of_choice(700, diagonal_mask(31)) == "fft");
  CHECK(name_of_choice(1000, diagonal_mask(31)) == "overlap-save");
  CHECK(name_of_choice(1000, diagonal_mask(101)) == "fft");
  CHECK(name_of_choice(4096, diagonal_mask(101)) == "overlap-save");
  CHECK(name_of_choice(4096, diagonal_mask(225)) == "overlap-save");
  CHECK(name_of_choice(4096, diagonal_mask(227)) == "fft");
}

}  // namespace convfilt::test
