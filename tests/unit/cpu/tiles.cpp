// How the CPU strategies share out their work.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/cpu/tiles.hpp"

namespace convfilt {
namespace {

TEST_CASE("tiles cover every pixel once, whatever the picture, the mask and the threads") {
  std::mt19937 random(7);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    Problem p;
    p.width = any(1, 700);
    p.height = any(1, 300);
    const cpu::TileCost cost{any(1, 1 << 18), any(1, 10000), any(0, 1 << 20), any(1, 400)};
    std::vector<int> covered(std::size_t(p.width) * std::size_t(p.height));
    const auto tiles = cpu::cut_in_tiles(p, cost, any(1, 64));
    for (const cpu::Tile& tile : tiles) {
      CHECK(tile.x1 - tile.x0 <= cpu::widest(tiles));
      for (int y = tile.y0; y < tile.y1; ++y) {
        for (int x = tile.x0; x < tile.x1; ++x) ++covered[std::size_t(y) * p.width + x];
      }
    }
    CHECK(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
  }
}

TEST_CASE("parallel_for: every index once, exceptions arrive") {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> calls(100);
    cpu::parallel_for(100, threads, [&](int worker, int index) {
      CHECK(worker < threads);
      ++calls[std::size_t(index)];
    });
    for (const auto& count : calls) CHECK(count == 1);
    CHECK_THROWS_AS(cpu::parallel_for(100, threads,
                                      [&](int, int index) {
                                        if (index == 50) throw std::invalid_argument("50");
                                      }),
                    std::invalid_argument);
  }
}

}  // namespace
}  // namespace convfilt
