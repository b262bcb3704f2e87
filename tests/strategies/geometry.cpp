/// What Strategy::geometry says of one block, against what the emulator counts.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

/// Blocks whose outputs overlap, and blocks of the picture that many blocks of threads share, are
/// counted in unit/explain/explain.cpp.
bool shared_out(const Runner& runner) {
  const Problem p{640, 480, 1, Depth::u8, Border::constant, 9, box_mask(5, 5)};
  const Geometry g = runner.strategy->geometry(p, runner.tuning);
  return g.step_x() < g.out_columns || runner.strategy->has(Setting::block);
}

bool in_coverage(const Runner& runner) {
  return runner.device == DeviceKind::emulator && runner.strategy->geometry && !shared_out(runner);
}

Counts counted(const Runner& runner, const Problem& problem) {
  Picture in = Picture::of(problem), out = Picture::result_of(problem);
  in.fill(Fill::noise, 61);
  PlanOptions options;
  options.tuning = runner.tuning;
  const auto plan = runner.strategy->prepare(problem, runner.device, options);
  plan->run(in.view(), out.view());
  count_run(runner);
  return plan->counts();
}

/// Calls f(runner, problem, geometry) for every strategy that tells its geometry, in all its
/// settings, and masks of one part; the picture's size is left open.
template <class F>
void for_each_geometry(F f) {
  struct Case {
    Runner runner;
    Problem problem;
  };
  std::vector<Case> cases;
  Random random(62);
  for (auto [w, h] :
       {std::pair{1, 1}, {3, 3}, {2, 3}, {5, 5}, {9, 1}, {1, 7}, {15, 15}, {31, 4}, {63, 63}}) {
    const Mask mask = integer_mask(random, w, h, 5, 30, 100);
    for (const Mask& m : {mask, anchored(mask, 0, h - 1)}) {
      for (Depth depth : kDepths) {
        for (const Runner& runner : runners()) {
          if (!in_coverage(runner)) continue;
          Problem p{4096, 4096, 1, depth, Border::constant, 9, m};  // as wide as any block
          const bool separable = runner.strategy->family == Family::separable;
          if (w * h > 1000 && !separable) continue;
          if (separable) {  // it takes only masks of low rank
            p.mask = anchored(box_mask(w, h), m.anchor_x, m.anchor_y);
          }
          if (runner.strategy->refusal(p, runner.tuning).empty()) cases.push_back({runner, p});
        }
      }
    }
  }
  Numbers<std::pair<int, int>> sides;
  cases = by_pairs(std::move(cases), [&](const Case& c) {
    const Mask& mask = c.problem.mask;
    const bool moved = mask.anchor_x != mask.width / 2 || mask.anchor_y != mask.height / 2;
    const Levels runner = levels_of(c.runner);
    return Levels{runner[0], runner[1], sides({mask.width, mask.height}), moved,
                  int(c.problem.depth)};
  });
  for (const auto& [runner, p] : cases) {
    INFO(to_string(runner) << ", mask " << p.mask.width << 'x' << p.mask.height << ", "
                           << name_of(p.depth));
    f(runner, p, runner.strategy->geometry(p, runner.tuning));
  }
}

/// The picture has tiles x tiles output tiles.
Problem of_tiles(Problem p, const Geometry& g, int columns, int rows) {
  p.width = columns * g.out_columns;
  p.height = rows * g.out_rows;
  return p;
}

}  // namespace

TEST_CASE("a geometry's numbers agree with each other") {
  for_each_geometry([](const Runner&, const Problem& p, const Geometry& g) {
    const int threads = g.block_columns * g.block_rows;
    CHECK(threads > 0);
    CHECK(threads <= 1024);
    CHECK(g.computing_threads > 0);
    CHECK(g.computing_threads <= threads);
    CHECK(g.loading_threads <= threads);
    CHECK((g.loading_threads > 0) == (g.in_columns > 0));
    CHECK((g.loading_threads > 0) == (g.in_rows > 0));
    CHECK(g.shared_bytes >= g.in_columns * g.in_rows * size_of(p.depth));
    CHECK(g.out_columns > 0);
    CHECK(g.out_rows > 0);
    CHECK_FALSE(g.loads_per_output.empty());
  });
}

// A row and a column of tiles more, less what each adds alone, are one tile in the middle. What the
// picture's edges cost cancels out.
TEST_CASE("a block in the middle reads what its geometry says") {
  for_each_geometry([](const Runner& runner, const Problem& p, const Geometry& g) {
    const auto count = [&](int columns, int rows) {
      return counted(runner, of_tiles(p, g, columns, rows));
    };
    // So many tiles keep either side's halo from reaching through.
    const int columns = 2 + 2 * p.mask.width / g.out_columns;
    const int rows = 2 + 2 * p.mask.height / g.out_rows;
    const Counts all = count(columns + 1, rows + 1), wide = count(columns + 1, rows),
                 high = count(columns, rows + 1), small = count(columns, rows);
    const auto of_one = [&](std::uint64_t Counts::*what) {
      return double(all.*what) - double(wide.*what) - double(high.*what) + double(small.*what);
    };
    CHECK(of_one(&Counts::global_reads) + of_one(&Counts::texture_fetches) == g.loads);
    CHECK((of_one(&Counts::texture_fetches) > 0) == (runner.strategy->name == "texture"));
    CHECK(of_one(&Counts::ghost_cells) == 0);
    CHECK(of_one(&Counts::blocks) == 1);
  });
}

TEST_CASE("tiles load ghost cells instead of reading them, and nothing else") {
  for_each_geometry([](const Runner& runner, const Problem& p, const Geometry& g) {
    const std::string_view name = runner.strategy->name;
    if (name != "tiled-in" && name != "tiled-out") return;
    const Counts counts = counted(runner, of_tiles(p, g, 3, 2));
    CHECK(counts.blocks == 6);
    CHECK(double(counts.global_reads + counts.ghost_cells) == 6 * g.loads);
  });
}

TEST_CASE("the textbook's example: tiled-in, a 5x5 mask, tiles of 16") {
  const Strategy* strategy = find_strategy("tiled-in");
  REQUIRE(strategy);
  Tuning tuning;
  tuning[Setting::tile] = 16;
  const Problem p{640, 480, 1, Depth::f32, Border::replicate, 0, box_mask(5, 5)};
  const Geometry g = strategy->geometry(p, tuning);
  CHECK(g.loads == 400);
  CHECK(g.out_columns * g.out_rows == 256);
  CHECK(g.computing_threads == 256);
  CHECK(g.block_columns * g.block_rows == 400);
  CHECK(g.lead_x == 2);
  CHECK(256 * 25 / g.loads == 16);
}

TEST_CASE("separable tells of its own kernel's block, and of two kernels' tile for longer masks") {
  const Strategy* strategy = find_strategy("separable");
  REQUIRE(strategy);
  for (const Depth depth : kDepths) {
    Problem p{640, 480, 1, depth, Border::replicate, 0, gaussian_mask(1, 129, 20)};
    CHECK(strategy->geometry(p, {}).computing_threads > 0);
    p.mask = gaussian_mask(1, 131, 20);
    const Geometry two = strategy->geometry(p, {});
    CHECK(two.computing_threads == 0);
    CHECK(two.out_columns * two.out_rows > 1);
    CHECK(two.note.starts_with("Two kernels"));
  }
}

TEST_CASE("tiled-in refuses tiles whose block is too large, and names the largest") {
  const Strategy* strategy = find_strategy("tiled-in");
  REQUIRE(strategy);
  Tuning tuning;
  const auto refusal = [&](const Mask& mask, int tile) {
    tuning[Setting::tile] = tile;
    return strategy->refusal({640, 480, 1, Depth::u8, Border::replicate, 0, mask}, tuning);
  };
  // A block has at most 1024 threads: 32 x 32, or 33 x 31.
  CHECK(refusal(box_mask(5, 5), 28) == "");
  CHECK(refusal(box_mask(5, 5), 29).ends_with("use --tile 28 or less, or --tile 29x27"));
  // 28 x 35 threads are 980, and 29 x 36 are 1044.
  CHECK(refusal(box_mask(2, 9), 27) == "");
  CHECK(refusal(box_mask(2, 9), 28).ends_with("use --tile 27 or less, or --tile 28x27"));
  // 33 rows are done as 17 and 16: 24 x 40 threads are 960, and 25 x 41 are 1025.
  CHECK(refusal(box_mask(1, 33), 24) == "");
  CHECK(refusal(box_mask(1, 33), 25).ends_with("use --tile 24 or less, or --tile 25x24"));
  // A mask of one row gets a block of one row.
  CHECK(refusal(box_mask(5, 1), 1020) == "");
  CHECK(refusal(box_mask(5, 1), 1021).ends_with("use --tile 1020 or less"));
}

TEST_CASE("tiled-out: one output a thread or four, in blocks of up to 1,024 threads") {
  const Strategy* strategy = find_strategy("tiled-out");
  REQUIRE(strategy);
  const auto problem = [](int w, int h) {
    return Problem{2048, 64, 1, Depth::u8, Border::replicate, 0, box_mask(w, h)};
  };
  const auto tuned = [](int tile, int outputs) {
    Tuning tuning;
    tuning[Setting::tile] = tile;
    tuning[Setting::outputs] = outputs;
    return tuning;
  };
  const auto block = [&](int w, int h, int tile, int outputs) {
    const Geometry g = strategy->geometry(problem(w, h), tuned(tile, outputs));
    return std::pair(g.block_columns, g.block_rows);
  };
  CHECK(block(5, 5, 0, 0) == std::pair(32, 8));
  CHECK(block(5, 5, 0, 4) == std::pair(32, 8));
  CHECK(block(5, 5, 0, 1) == std::pair(16, 16));
  CHECK(block(5, 5, 32, 1) == std::pair(32, 32));
  CHECK(block(5, 5, 16, 0) == std::pair(16, 16));
  CHECK(block(5, 5, TileSides{32, 8}.value(), 0) == std::pair(32, 8));
  CHECK(block(5, 1, 0, 0) == std::pair(256, 1));
  CHECK(block(5, 1, 1024, 0) == std::pair(1024, 1));
  const auto refusal = [&](int w, int h, int tile, int outputs) {
    return strategy->refusal(problem(w, h), tuned(tile, outputs));
  };
  CHECK(refusal(5, 5, 0, 2) == "--outputs must be 1 or 4");
  CHECK(refusal(5, 5, 16, 4).ends_with("leave out --tile or --outputs"));
  CHECK(refusal(5, 1, 0, 4).ends_with("leave out --outputs"));
  CHECK(refusal(1, 5, 33, 0).starts_with("a block has a thread for each sample of the tile"));
  CHECK(refusal(5, 1, 1024, 1) == "");
  CHECK(refusal(5, 5, TileSides{32, 33}.value(), 0).starts_with("a block has a thread for each"));
  CHECK(refusal(5, 5, TileSides{32, 8}.value(), 4).ends_with("leave out --tile or --outputs"));
}

TEST_CASE("a row that is shorter than a block gets a block of its length") {
  for (const char* name : {"tiled-in", "tiled-out", "cached"}) {
    const auto threads = [&](int width) {
      const Problem p{width, 1, 1, Depth::f32, Border::constant, 0, box_mask(5, 1)};
      return find_strategy(name)->geometry(p, {}).block_columns;
    };
    INFO(name);
    const int halo = std::string(name) == "tiled-in" ? 4 : 0;
    CHECK(threads(5) == 5 + halo);
    CHECK(threads(1) == 1 + halo);
    CHECK(threads(1000) == 256);
  }
}

TEST_CASE("a setting out of its range is refused") {
  const Strategy* strategy = find_strategy("tiled-out");
  REQUIRE(strategy);
  const Problem p{64, 48, 1, Depth::u8, Border::replicate, 0, box_mask(3, 3)};
  for (int tile : {-1, 1025}) {
    Tuning tuning;
    tuning[Setting::tile] = tile;
    CHECK(strategy->refusal(p, tuning) ==
          "--tile is " + std::to_string(tile) + "; it must be 1..1024");
  }
  Tuning wide;
  wide[Setting::tile] = TileSides{2000, 8}.value();
  CHECK(strategy->refusal(p, wide) == "--tile is 2000x8; it must be 1..1024");
  Tuning tuning;
  tuning[Setting::halo] = 3;
  CHECK(strategy->refusal(p, tuning) == "--halo is 3; it must be one of its words");
}

}  // namespace convfilt::test
