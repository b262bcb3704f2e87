/// What the tiled kernels read, counted by the emulator, against the textbook's formulas.
///
/// Problems have one channel, and a mask of one part. Ghost cells are excluded from the reads under
/// Border::constant, which makes them up, and included under Border::replicate, which reads the
/// edge instead.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

constexpr int kSquare = 32;  // side of the largest square block
constexpr int kTile = 16;    // side of an output tile by default
constexpr int kLine = 256;   // most columns of a block under a mask of one row, which has one row
constexpr int kAskedTiles[] = {
    0, 16, 5, 40, TileSides{12, 5}.value(), TileSides{40, 6}.value()};  // --tile; 0: not given

Tuning tuning_of(int tile, int halo = kSweeps, int outputs = 0) {
  Tuning tuning;
  tuning[Setting::tile] = tile;
  tuning[Setting::halo] = halo;
  tuning[Setting::outputs] = outputs;
  return tuning;
}

bool is_line(const Problem& p) {
  return p.mask.height == 1;
}

/// The output tile that --tile asks for, or by default a square of that side.
TileSides tile_of(const Problem& p, int asked, int side = kTile) {
  if (is_line(p)) return {asked ? asked : std::min(kLine, p.width), 1};
  return asked ? TileSides::of(asked) : TileSides{side, side};
}

/// Only blocks of one row are larger than the square, and they have no rows to ask for.
bool impossible(const Problem& p, int asked) {
  const TileSides tile = TileSides::of(asked);
  return is_line(p) ? tile.rows != tile.columns : std::max(tile.columns, tile.rows) > kSquare;
}

/// One axis of a problem: picture side, mask side, anchor. Counts of both axes multiply.
struct Axis {
  std::uint64_t n;
  std::uint64_t side;
  int anchor;

  std::uint64_t taps() const { return n * side; }

  /// Taps of all outputs that lie inside the image: the weight at distance d from the anchor meets
  /// the image n - d times.
  std::uint64_t taps_inside() const { return taps_within(n); }

  /// The same for a stretch of `length` outputs and taps that stay within that stretch.
  std::uint64_t taps_within(std::uint64_t length) const {
    std::uint64_t sum = 0;
    for (int i = 0; i < int(side); ++i) {
      const auto distance = std::uint64_t(std::abs(i - anchor));
      sum += length > distance ? length - distance : 0;
    }
    return sum;
  }

  std::uint64_t tiles(std::uint64_t tile) const { return (n + tile - 1) / tile; }

  /// Cells inside the image of all input tiles: of an output tile and the halo around it.
  std::uint64_t loads_inside(int tile) const {
    std::uint64_t sum = 0;
    for (int t = 0; t < int(tiles(tile)); ++t) {
      const int first = std::max(0, t * tile - anchor);
      const int last = std::min(int(n), t * tile - anchor + tile + int(side) - 1);
      sum += std::uint64_t(std::max(0, last - first));
    }
    return sum;
  }

  /// cached: its tiles lie under the middle of the mask, this far from the outputs.
  int shift() const { return int(side) / 2 - anchor; }

  /// Cells inside the image of such tiles.
  std::uint64_t tile_cells(int tile) const {
    std::uint64_t sum = 0;
    for (int t = 0; t < int(tiles(tile)); ++t) {
      const int first = t * tile + shift();
      sum += std::uint64_t(std::max(0, std::min(int(n), first + tile) - std::max(0, first)));
    }
    return sum;
  }

  /// Taps that stay within the output's own tile and the image: for each tile and weight, the
  /// outputs that lie in four intervals at once.
  std::uint64_t taps_in_own_tile(int tile) const {
    std::uint64_t sum = 0;
    for (int t = 0; t < int(tiles(tile)); ++t) {
      for (int i = 0; i < int(side); ++i) {
        const int d = i - int(side) / 2;  // from an output's place in the tile to the tap's
        const int origin = t * tile + shift();
        const int first = std::max({0, -d, -origin - d});
        const int last = std::min({tile, int(n) - t * tile, tile - d, int(n) - origin - d});
        sum += std::uint64_t(std::max(0, last - first));
      }
    }
    return sum;
  }
};

Counts counted(const char* name, const Problem& problem, const Tuning& tuning = {}) {
  const Strategy* strategy = find_strategy(name);
  REQUIRE(strategy);
  Picture in = Picture::of(problem), out = Picture::of(problem);
  in.fill(Fill::noise, 51);
  PlanOptions options;
  options.tuning = tuning;
  const auto plan = strategy->prepare(problem, DeviceKind::emulator, options);
  plan->run(in.view(), out.view());
  count_run({strategy, DeviceKind::emulator, tuning});
  return plan->counts();
}

/// Reads of global memory where `cells` are asked for and `inside` of them lie in the image.
struct Expected {
  std::uint64_t global_reads, ghost_cells, shared_reads, blocks;
};

Expected with_ghosts(const Problem& p, std::uint64_t cells, std::uint64_t inside) {
  if (p.border == Border::constant) return {inside, cells - inside, 0, 0};
  return {cells, 0, 0, 0};
}

void check_counts(const char* name, const Problem& p, const Expected& e,
                  const Tuning& tuning = {}) {
  INFO(name << ", " << to_string(p) << ", anchor " << p.mask.anchor_x << ' ' << p.mask.anchor_y
            << ", " << to_string(tuning));
  const Counts c = counted(name, p, tuning);
  CHECK(c.global_reads == e.global_reads);
  CHECK(c.ghost_cells == e.ghost_cells);
  CHECK(c.shared_reads == e.shared_reads);
  if (e.blocks == 0) {
    CHECK(c.barriers == 0);
    return;
  }
  CHECK(c.blocks == e.blocks);
  CHECK(c.barriers == e.blocks);
}

template <class F>
void for_each_problem(F f) {
  constexpr std::pair<int, int> kMasks[] = {{1, 1},   {3, 3},  {5, 5}, {4, 7},
                                            {15, 15}, {31, 1}, {2, 31}},
                                kSizes[] = {{1, 1},   {32, 32}, {33, 31},
                                            {64, 96}, {75, 50}, {5, 130}};
  for (const auto& [number, mask, moved, size, border] :
       combinations(kMasks, std::array{false, true}, kSizes,
                    std::array{Border::constant, Border::replicate})) {
    const auto [w, h] = mask;
    const auto [width, height] = size;
    Random random(52 + number);
    const Mask plain = integer_mask(random, w, h, 5, 30, 100);
    const Mask m = moved ? anchored(plain, 0, h - 1) : plain;
    f(Problem{width, height, 1, Depth::u8, border, 9, m},
      Axis{std::uint64_t(width), std::uint64_t(w), m.anchor_x},
      Axis{std::uint64_t(height), std::uint64_t(h), m.anchor_y});
  }
}

}  // namespace

TEST_CASE("basic reads every tap from global memory") {
  if (emulator_missing()) return;
  for_each_problem([](const Problem& p, const Axis& x, const Axis& y) {
    Expected e = with_ghosts(p, x.taps() * y.taps(), x.taps_inside() * y.taps_inside());
    check_counts("basic", p, e);
    // A mask in global memory is read there once more for each tap, ghost cell or not.
    e.global_reads += x.taps() * y.taps();
    Tuning global;
    global[Setting::mask_memory] = kGlobal;
    check_counts("basic", p, e, global);
  });
}

TEST_CASE("tiled-out loads each output tile and its halo once") {
  if (emulator_missing()) return;
  for_each_problem([](const Problem& p, const Axis& x, const Axis& y) {
    for (int asked : kAskedTiles) {
      if (impossible(p, asked)) continue;
      for (int halo : {kSweeps, kRegions, kTwoStep}) {
        for (int outputs : {0, 1, 4}) {
          const TileSides tile = tile_of(p, asked, outputs == 1 ? kTile : kSquare);
          const std::uint64_t blocks = x.tiles(tile.columns) * y.tiles(tile.rows);
          const std::uint64_t cells =
              blocks * (tile.columns + x.side - 1) * (tile.rows + y.side - 1);
          Expected e =
              with_ghosts(p, cells, x.loads_inside(tile.columns) * y.loads_inside(tile.rows));
          e.blocks = blocks;
          const Tuning tuning = tuning_of(asked, halo, outputs);
          if (!find_strategy("tiled-out")->refusal(p, tuning).empty()) continue;
          // Where a thread computes several outputs together, and in the halo's other ways, it
          // computes also those of its tile that lie outside the image.
          const bool all = halo != kSweeps || outputs == 4 || (!outputs && !asked && !is_line(p));
          e.shared_reads =
              all ? blocks * tile.columns * tile.rows * x.side * y.side : x.taps() * y.taps();
          check_counts("tiled-out", p, e, tuning);
        }
      }
    }
  });
}

TEST_CASE("tiled-in loads one sample a thread") {
  if (emulator_missing()) return;
  for_each_problem([](const Problem& p, const Axis& x, const Axis& y) {
    for (int asked : kAskedTiles) {
      // A block of the largest size leaves a smaller tile than asked for, which is refused, or than
      // the default.
      const int columns = (is_line(p) ? kLine : kSquare) + 1 - int(x.side);
      const int rows = kSquare + 1 - int(y.side);
      TileSides tile = tile_of(p, asked);
      if (!asked) tile = {std::min(tile.columns, columns), std::min(tile.rows, rows)};
      const std::uint64_t threads = (tile.columns + x.side - 1) * (tile.rows + y.side - 1);
      if ((is_line(p) && impossible(p, asked)) || threads > 1024) continue;
      const std::uint64_t blocks = x.tiles(tile.columns) * y.tiles(tile.rows);
      const std::uint64_t cells = blocks * threads;
      Expected e = with_ghosts(p, cells, x.loads_inside(tile.columns) * y.loads_inside(tile.rows));
      e.shared_reads = x.taps() * y.taps();
      e.blocks = blocks;
      for (int idle : {kLast, kRim}) {
        Tuning tuning = tuning_of(asked);
        tuning[Setting::idle] = idle;
        check_counts("tiled-in", p, e, tuning);
      }
    }
  });
}

TEST_CASE("cached reads what lies outside its tile from global memory") {
  if (emulator_missing()) return;
  for_each_problem([](const Problem& p, const Axis& x, const Axis& y) {
    for (int asked : kAskedTiles) {
      if (impossible(p, asked)) continue;
      const TileSides tile = tile_of(p, asked);
      const std::uint64_t own = x.taps_in_own_tile(tile.columns) * y.taps_in_own_tile(tile.rows);
      const std::uint64_t inside = x.taps_inside() * y.taps_inside();
      Expected e = with_ghosts(p, x.taps() * y.taps() - own, inside - own);
      e.global_reads += x.tile_cells(tile.columns) * y.tile_cells(tile.rows);  // the tiles
      e.shared_reads = own;
      e.blocks = x.tiles(tile.columns) * y.tiles(tile.rows);
      check_counts("cached", p, e, tuning_of(asked));
    }
  });
}

TEST_CASE("scatter reads each sample once and adds it to every output that needs it") {
  if (emulator_missing()) return;
  for_each_problem([](const Problem& p, const Axis& x, const Axis& y) {
    const std::uint64_t needed = (x.n + x.side - 1) * (y.n + y.side - 1);
    check_counts("scatter", p, with_ghosts(p, needed, x.n * y.n));
    CHECK(counted("scatter", p).atomic_adds == x.taps() * y.taps());
  });
}

TEST_CASE("overlap-add and in-parts read each sample once in the frequency domain") {
  if (emulator_missing()) return;
  for_each_problem([](const Problem& p, const Axis& x, const Axis& y) {
    const std::uint64_t needed = (x.n + x.side - 1) * (y.n + y.side - 1);
    for (const char* name : {"overlap-add", "in-parts"}) {
      check_counts(name, p, with_ghosts(p, needed, x.n * y.n));
      CHECK(counted(name, p).atomic_adds == 0);
    }
  });
}

TEST_CASE("overlap-add and in-parts fetch each sample once in the spatial domain") {
  if (emulator_missing()) return;
  Tuning tuning;
  tuning[Setting::domain] = kSpatial;
  for_each_problem([&](const Problem& p, const Axis& x, const Axis& y) {
    const std::uint64_t needed = (x.n + x.side - 1) * (y.n + y.side - 1);
    for (const char* name : {"overlap-add", "in-parts"}) {
      const Counts c = counted(name, p, tuning);
      const Expected e = with_ghosts(p, needed, x.n * y.n);
      INFO(name << ", " << to_string(p));
      CHECK(c.global_reads == e.global_reads);
      CHECK(c.ghost_cells == e.ghost_cells);
      CHECK(c.barriers == c.blocks);
    }
  });
}

// The published example: L = 16 and M = 5 in one dimension.
TEST_CASE("overlap-discard and overlap-add: 1.25 and 1 global reads an output at L = 16, M = 5") {
  if (emulator_missing()) return;
  const auto of_a_block = [](const char* name, int block, int picture) {
    Tuning tuning;
    tuning[Setting::domain] = kSpatial;
    tuning[Setting::block] = block;
    const auto reads = [&](int width) {
      return counted(name, {width, 1, 1, Depth::u8, Border::replicate, 0, box_mask(5, 1)}, tuning)
          .global_reads;
    };
    CHECK(find_strategy(name)
              ->geometry({picture, 1, 1, Depth::u8, Border::replicate, 0, box_mask(5, 1)}, tuning)
              .loads == double(reads(picture + 16) - reads(picture)));
    return reads(picture + 16) - reads(picture);
  };
  CHECK(of_a_block("overlap-save", 20, 160) == 20);
  CHECK(of_a_block("overlap-add", 16, 160) == 16);
}

TEST_CASE("the textbook's ratios: global reads per output") {
  if (emulator_missing()) return;
  constexpr int kSide = 5, kPicture = 96;  // whole tiles of 16 and of 32
  const Mask mask = box_mask(kSide, kSide);
  const Problem p{kPicture, kPicture, 1, Depth::u8, Border::replicate, 0, mask};
  const auto per_output = [&](const char* name, const Tuning& tuning = {}) {
    return double(counted(name, p, tuning).global_reads) / (double(p.width) * p.height);
  };
  CHECK(per_output("basic") == kSide * kSide);
  // (tile + 2r)^2 / tile^2
  CHECK(per_output("tiled-out") == doctest::Approx(std::pow(36.0 / 32, 2)));
  CHECK(per_output("tiled-out", tuning_of(0, kSweeps, 1)) == doctest::Approx(400.0 / 256));
  CHECK(per_output("tiled-in") == doctest::Approx(400.0 / 256));
  CHECK(per_output("tiled-in", tuning_of(TileSides{16, 8}.value())) ==
        doctest::Approx(20.0 * 12 / (16 * 8)));
  // 1 and the share of w^2 taps that leave the tile
  const double staying = 1 - (kSide * kSide - 1) / (4.0 * kSide * kTile);
  CHECK(per_output("cached") == doctest::Approx(1 + kSide * kSide * (1 - staying * staying)));
}

}  // namespace convfilt::test
