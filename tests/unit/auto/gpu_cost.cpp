/// What strategies cost on a GPU, by which auto takes one of a family.
#include "src/auto/gpu_cost.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "kernels/backend/devices.hpp"
#include "kernels/registry.hpp"
#include "src/mask/make.hpp"
#include "tests/support/sample_masks.hpp"

namespace convfilt::test {

TEST_CASE("the cost on a GPU grows with the mask, and only strategies that auto takes have one") {
  for (const Strategy* strategy : strategies()) {
    for (const Depth depth : kDepths) {
      for (auto [channels, major] : {std::pair{1, 8}, {3, 8}, {1, 9}, {3, 9}}) {
        double before = 0;
        for (int side = 1; side <= 201; side += 2) {
          const bool separable = strategy->family == Family::separable;
          const Problem problem{8192,
                                8192,
                                channels,
                                depth,
                                Border::replicate,
                                0,
                                separable ? convfilt::box_mask(side) : diagonal_mask(side)};
          const auto copies = copies_of(*strategy, problem, major);
          if (!copies) continue;
          CHECK(strategy->runs_on(DeviceKind::cuda) == built_with_cuda());
          CHECK(*copies > 1);
          // Small ones are as dear as their memory; a larger one may have a coarser grid.
          CHECK((*copies >= before * 0.98 || strategy->name == "coarse"));
          before = *copies;
        }
      }
    }
  }
  for (const Depth depth : kDepths) {
    for (const Family family : {Family::direct, Family::separable, Family::transform}) {
      long with_a_cost = 0;
      for (const Strategy* strategy : strategies()) {
        with_a_cost +=
            strategy->family == family &&
            copies_of(*strategy, {64, 64, 1, depth, Border::replicate, 0, diagonal_mask(3)}, 9)
                .has_value();
      }
      CHECK(with_a_cost > 0);
    }
  }
}

TEST_CASE("the time on a GPU grows with the picture, from what a small one takes") {
  for (const Strategy* strategy : strategies()) {
    for (const Depth depth : kDepths) {
      for (const int channels : {1, 3}) {
        for (const int side : {3, 9, 31, 101}) {
          const Mask mask = strategy->family == Family::separable ? convfilt::box_mask(side)
                                                                  : diagonal_mask(side);
          double before = 0;
          for (const int width : {1024, 1536, 2048, 4096, 8192, 16384}) {
            const Problem problem{width, width * 3 / 4, channels, depth, Border::replicate,
                                  0,     mask};
            const auto time = microseconds_of(*strategy, problem, 9);
            if (!time) {
              CHECK_FALSE(copies_of(*strategy, problem, 9));
              continue;
            }
            CHECK(*time >= before);
            before = *time;
          }
        }
      }
    }
  }
}

// Few multiprocessors work then, and those that walk down a strip do so for long.
TEST_CASE("small grey pictures are left to tiles, large ones to tensor cores") {
  const auto fastest = [](int width, int channels) {
    const Strategy* best = nullptr;
    double least = 0;
    for (const Strategy* strategy : strategies()) {
      const auto time = microseconds_of(
          *strategy,
          {width, width * 3 / 4, channels, Depth::u8, Border::replicate, 0, diagonal_mask(9)}, 9);
      if (strategy->family != Family::direct || !time || (best && *time >= least)) continue;
      best = strategy;
      least = *time;
    }
    REQUIRE(best);
    return best->name;
  };
  CHECK(fastest(64, 1) == "tiled-out");
  CHECK(fastest(640, 1) == "tiled-out");
  CHECK(fastest(640, 3) == "tensor");
  CHECK(fastest(1024, 1) == "tensor");
  CHECK(fastest(8192, 1) == "tensor");
}

}  // namespace convfilt::test
