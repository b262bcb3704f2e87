/// What strategies cost on a GPU, by which auto takes one of a family.
#include "gpu_cost.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "devices.hpp"
#include "make_masks.hpp"
#include "registry.hpp"
#include "sample_masks.hpp"

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

}  // namespace convfilt::test
