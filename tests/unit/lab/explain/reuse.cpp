/// The textbook's tables of reuse, against their formulas worked out by hand: ECE408's
/// TILE * M / (TILE + M - 1) in one dimension and its square in two, and PMPP's operations per
/// byte.
#include "src/lab/explain/reuse.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

#include "kernels/registry.hpp"

namespace convfilt::test {
namespace {

ReuseCell cell_of(const char* name, int dimensions, int mask, int tile, int picture = 1024,
                  Depth depth = Depth::f32) {
  const Strategy* const strategy = find_strategy(name);
  REQUIRE(strategy);
  Problem problem;
  problem.width = problem.height = picture;
  problem.depth = depth;
  const auto rows =
      reuse_rows(std::array{strategy}, problem, dimensions, std::array{mask}, std::array{tile});
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].cells.size() == 1);
  CHECK(rows[0].strategy == strategy);
  CHECK(rows[0].cells[0].tile == tile);
  return rows[0].cells[0];
}

void check_reuse(const char* name, int dimensions, int mask, int tile, double expected) {
  INFO(name << ", " << dimensions << ", mask " << mask << ", tile " << tile);
  CHECK(cell_of(name, dimensions, mask, tile).reuse == doctest::Approx(expected));
}

}  // namespace

TEST_CASE("reuse of an output tile: the tables of ECE408") {
  check_reuse("tiled-out", 1, 5, 16, 80.0 / 20);
  check_reuse("tiled-out", 1, 5, 32, 160.0 / 36);
  check_reuse("tiled-out", 1, 5, 64, 320.0 / 68);
  check_reuse("tiled-out", 1, 5, 256, 1280.0 / 260);
  check_reuse("tiled-out", 1, 9, 16, 144.0 / 24);
  check_reuse("tiled-out", 1, 9, 64, 576.0 / 72);
  check_reuse("tiled-out", 2, 5, 8, 11.1111111);
  check_reuse("tiled-out", 2, 5, 16, 16);
  check_reuse("tiled-out", 2, 5, 32, 19.7530864);
  check_reuse("tiled-out", 2, 5, 64, 22.1453287);
  check_reuse("tiled-out", 2, 9, 8, 20.25);
  check_reuse("tiled-out", 2, 9, 16, 36);
  check_reuse("tiled-out", 2, 9, 32, 51.84);
  check_reuse("tiled-out", 2, 9, 64, 64);
}

TEST_CASE("operations per byte of an input tile: the table of PMPP 4e, ch. 7.4") {
  const auto check = [](int mask, int tile, double expected) {
    INFO("mask " << mask << ", tile " << tile);
    CHECK(cell_of("tiled-in", 2, mask, tile).operations ==
          doctest::Approx(expected).epsilon(0.001));
  };
  check(5, 8, 3.125);
  check(5, 16, 7.03);
  check(5, 32, 9.57);
  check(9, 16, 10.125);
  check(9, 32, 22.78);
  check_reuse("tiled-in", 2, 5, 16, 144 * 25 / 256.0);
  // Eight columns leave no output under nine taps.
  CHECK(cell_of("tiled-in", 2, 9, 8).reuse == 0);
  CHECK(cell_of("tiled-in", 2, 9, 8).operations == 0);
  CHECK(!cell_of("tiled-in", 2, 9, 8).refusal.empty());
  CHECK(cell_of("tiled-in", 2, 9, 9).reuse == doctest::Approx(1));
}

TEST_CASE("limits of large tiles, and whose side a tile is") {
  Problem problem;
  problem.width = problem.height = 1024;
  problem.depth = Depth::f32;
  const auto row = [&](const char* name, int dimensions, int mask) {
    const Strategy* const strategy = find_strategy(name);
    REQUIRE(strategy);
    return reuse_rows(std::array{strategy}, problem, dimensions, std::array{mask},
                      std::array{8})[0];
  };
  for (const char* name : {"tiled-in", "tiled-out", "cached"}) {
    CHECK(row(name, 1, 5).reuse_limit == 5);
    CHECK(row(name, 2, 5).reuse_limit == 25);
    CHECK(row(name, 2, 5).operations_limit == 12.5);
    CHECK(row(name, 2, 9).operations_limit == 40.5);
    // A tile of 30,000 columns is near it.
    CHECK(cell_of(name, 2, 9, 30000).operations == doctest::Approx(40.5).epsilon(0.02));
  }
  CHECK(row("basic", 2, 5).reuse_limit == 1);
  CHECK(row("basic", 2, 5).operations_limit == 0.5);
  CHECK(row("tiled-in", 2, 5).tile_of == TileOf::input);
  CHECK(row("tiled-out", 2, 5).tile_of == TileOf::output);
  CHECK(row("cached", 2, 5).tile_of == TileOf::none);
  CHECK(row("basic", 2, 5).tile_of == TileOf::none);
}

TEST_CASE("basic reads every tap, whatever the tile: half an operation per byte of floats") {
  check_reuse("basic", 2, 5, 64, 1);
  CHECK(cell_of("basic", 2, 9, 16).operations == 0.5);
  CHECK(cell_of("basic", 2, 9, 16, 1024, Depth::u8).operations == 2);
}

TEST_CASE("cached reads its tile and the taps beside it") {
  check_reuse("cached", 1, 5, 16, 80.0 / (16 + 6));
  check_reuse("cached", 2, 5, 16, 6400.0 / (256 + 6400 - 74 * 74));
  check_reuse("cached", 2, 5, 64, 102400.0 / (4096 + 102400 - 314 * 314));
}

// Two tiles of eight outputs: each has 37 taps on 10 samples, in ECE408's figures.
TEST_CASE("reuse without ghosts is the average over a picture") {
  CHECK(cell_of("tiled-out", 1, 5, 8, 16).ghosts_out == doctest::Approx(3.7));
  CHECK(cell_of("tiled-out", 2, 5, 8, 16).ghosts_out == doctest::Approx(3.7 * 3.7));
  CHECK(cell_of("cached", 1, 5, 8, 16).ghosts_out == doctest::Approx(74.0 / (16 + 6)));
  CHECK(cell_of("basic", 2, 5, 8, 16).ghosts_out == 1);
}

TEST_CASE("spatial overlap-save has the reuse of output tiles, and texture that of basic") {
  for (const int tile : {8, 16, 64}) {
    for (const int dimensions : {1, 2}) {
      const ReuseCell kept = cell_of("overlap-save", dimensions, 5, tile);
      const ReuseCell tiled = cell_of("tiled-out", dimensions, 5, tile);
      CHECK(kept.reuse == tiled.reuse);
      CHECK(kept.ghosts_out == tiled.ghosts_out);
      CHECK(kept.refusal.empty());  // one block of threads sweeps a tile of any side
      CHECK(cell_of("texture", dimensions, 5, tile).reuse == 1);
      CHECK(cell_of("texture", dimensions, 5, tile).ghosts_out == 1);
    }
  }
}

// Four outputs take loads of eight samples. In a row of 16 outputs, five threads begin at outputs
// -2, 2, 6, 10, 14. All samples of the middle three lie in the image. The first and the last read
// 10 taps each: outputs -2 to 1 have 1 + 2 + 3 + 4 samples, and so have 14 to 17.
TEST_CASE("unrolled without ghosts: whole loads in the image, and taps at its edges") {
  CHECK(cell_of("unrolled", 1, 5, 8, 16).reuse == doctest::Approx(2.5));
  CHECK(cell_of("unrolled", 1, 5, 8, 16).ghosts_out == doctest::Approx(74.0 / (3 * 8 + 2 * 10)));
}

TEST_CASE("a block that no launch has is computed all the same, and says why there is none") {
  CHECK(cell_of("tiled-out", 2, 5, 32).refusal.empty());
  CHECK(cell_of("tiled-out", 2, 5, 64).refusal.find("32 x 32") != std::string::npos);
  CHECK(cell_of("tiled-out", 1, 5, 64).refusal.empty());
  CHECK(cell_of("tiled-in", 2, 5, 32).refusal.empty());
  CHECK(!cell_of("tiled-in", 2, 5, 64).refusal.empty());
  CHECK(cell_of("basic", 2, 5, 64).refusal.empty());
}

TEST_CASE("tables are of strategies that read global memory by a formula") {
  const auto found = strategies_with_reuse();
  CHECK(found.size() >= 4);
  for (const char* name :
       {"basic", "unrolled", "tiled-in", "tiled-out", "cached", "texture", "overlap-save"})
    CHECK(std::ranges::find(found, find_strategy(name)) != found.end());
  for (const char* name : {"scatter", "overlap-add", "in-parts", "two-pass", "direct", "cpu"}) {
    CHECK(std::ranges::find(found, find_strategy(name)) == found.end());
    CHECK(!reuse_refusal(*find_strategy(name)).empty());
  }
  CHECK(reuse_refusal(*find_strategy("scatter")).find("sum") != std::string::npos);
}

}  // namespace convfilt::test
