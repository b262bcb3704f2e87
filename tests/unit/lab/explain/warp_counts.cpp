/// What warps do together, against numbers worked out by hand from the problem: how wide a row of
/// threads is, where its bytes begin, and which of them have something to do.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backend/warps.hpp"
#include "src/lab/explain/count_reads.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

/// 32 lanes access 4 bytes each, `stride` bytes apart, from `first` on.
WarpCounts warp_of(Memory memory, std::uint64_t first, std::uint64_t stride) {
  WarpWatch watch;
  watch.begin(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    watch.access(lane, 1, memory, first + lane * stride, 4);
  WarpCounts counts;
  watch.end(counts);
  return counts;
}

/// The picture's width is 200, so a block in the middle begins at column 96.
Problem problem_of(const Mask& mask, Depth depth) {
  return {200, 120, 1, depth, Border::replicate, 0, mask};
}

Counts watched(const char* name, const Problem& problem, const Tuning& tuning = {},
               bool padded = true) {
  const Strategy* strategy = find_strategy(name);
  REQUIRE(strategy);
  const auto block = watch_middle_block(*strategy, problem, tuning, padded);
  REQUIRE(block);
  return block->count;
}

Tuning with_tile(int tile, int outputs = 0) {
  Tuning tuning;
  tuning[Setting::tile] = tile;
  tuning[Setting::outputs] = outputs;
  return tuning;
}

std::string text_of(const WarpCounts& c) {
  std::string text;
  for (const auto count : {c.warps, c.divergent_warps, c.sectors, c.fewest_sectors, c.bursts,
                           c.bank_conflicts, c.diverge_loading, c.diverge_computing})
    text += " " + std::to_string(count);
  return text;
}

void check(const WarpCounts& counts, const WarpCounts& expected) {
  INFO("counted" << text_of(counts) << ", expected" << text_of(expected));
  CHECK(counts == expected);
}

}  // namespace

TEST_CASE("an access of a warp: sectors, bursts, bank conflicts") {
  check(warp_of(Memory::global, 0, 4), {1, 0, 4, 4, 2, 0});
  check(warp_of(Memory::global, 32, 4), {1, 0, 4, 4, 3, 0});
  check(warp_of(Memory::global, 4, 4), {1, 0, 5, 4, 3, 0});
  check(warp_of(Memory::global, 0, 8), {1, 0, 8, 4, 4, 0});
  check(warp_of(Memory::global, 0, 128), {1, 0, 32, 4, 32, 0});
  check(warp_of(Memory::global, 0, 0), {1, 0, 1, 1, 1, 0});
  check(warp_of(Memory::shared, 0, 4), {1, 0, 0, 0, 0, 0});
  check(warp_of(Memory::shared, 0, 8), {1, 0, 0, 0, 0, 1});
  check(warp_of(Memory::shared, 0, 128), {1, 0, 0, 0, 0, 31});  // a column of a tile of 32
  check(warp_of(Memory::shared, 0, 132), {1, 0, 0, 0, 0, 0});   // and of one of 33
  check(warp_of(Memory::shared, 0, 0), {1, 0, 0, 0, 0, 0});     // one word for all
}

TEST_CASE("lanes access memory together at one place, in one turn, for the same time") {
  WarpWatch watch;
  watch.begin(40);
  // Lanes 0 and 1 take two turns of a loop. In the first one lane 0 reads twice.
  for (const std::uint32_t lane : {0, 1}) {
    watch.turn(lane);
    watch.access(lane, 7, Memory::global, lane * 4, 4);
    if (lane == 0) watch.access(lane, 7, Memory::global, 4096, 4);
    watch.turn(lane);
    watch.access(lane, 7, Memory::global, 8192 + lane * 4, 4);
  }
  WarpCounts counts;
  watch.end(counts);
  check(counts, {2, 1, 3, 3, 3, 0, 0, 1});
}

TEST_CASE("a barrier brings lanes together that had more turns before it") {
  WarpWatch watch;
  watch.begin(2);
  watch.turn(0);
  watch.turn(0);
  watch.turn(1);
  watch.barrier();
  for (const std::uint32_t lane : {0, 1}) {
    watch.turn(lane);
    watch.access(lane, 7, Memory::global, lane * 4, 4);
  }
  WarpCounts counts;
  watch.end(counts);
  check(counts, {1, 0, 1, 1, 1, 0});
}

TEST_CASE("a sweep brings lanes together that had more turns in the one before") {
  WarpWatch watch;
  watch.begin(2);
  for (const std::uint32_t lane : {0, 1}) {
    watch.sweep(lane);
    if (lane == 0) watch.turn(lane);
    watch.sweep(lane);
    watch.turn(lane);
    watch.access(lane, 7, Memory::global, lane * 4, 4);
  }
  WarpCounts counts;
  watch.end(counts);
  check(counts, {1, 0, 1, 1, 1, 0});
}

TEST_CASE("basic: a warp reads 32 samples of a row, a tap at a time") {
  if (emulator_missing()) return;
  // Of five taps one begins at a sector: 2 + 2 + 1 + 2 + 2 sectors for each of 5 rows and 8 warps.
  const Counts bytes = watched("basic", problem_of(box_mask(5, 5), Depth::u8));
  check(bytes.warps, {8, 0, 9 * 5 * 8 + 8, 25 * 8 + 8, 7 * 5 * 8 + 8, 0});
  CHECK(bytes.global_reads == 256 * 25);
  CHECK(bytes.global_writes == 256);
  CHECK(bytes.mask_reads == 256 * 25);
  CHECK(bytes.shared_reads + bytes.shared_writes == 0);
  // 128 bytes of floats: 5 + 5 + 4 + 5 + 5 sectors, 3 + 3 + 2 + 3 + 3 bursts.
  check(watched("basic", problem_of(box_mask(5, 5), Depth::f32)).warps,
        {8, 0, 24 * 5 * 8 + 4 * 8, 4 * 25 * 8 + 4 * 8, 14 * 5 * 8 + 2 * 8, 0});
  // Packed rows of 200 bytes begin at a sector in one row of four: 10 of 40 rows of taps have nine
  // sectors, the others ten; of 8 rows of outputs 2 have one, the others two.
  const Counts packed = watched("basic", problem_of(box_mask(5, 5), Depth::u8), {}, false);
  CHECK(packed.warps.sectors == 10 * 9 + 30 * 10 + 2 + 6 * 2);
  CHECK(packed.warps.fewest_sectors == 25 * 8 + 8);
}

// The block has 20 x 20 threads. A warp is a row and 12 threads of the next, then 8 of that, a row,
// and 4 of the next, and so on; every five warps are eight rows. The input tile begins two samples
// before a sector.
TEST_CASE("tiled-in: warps go over the ends of rows") {
  if (emulator_missing()) return;
  const Counts bytes = watched("tiled-in", problem_of(box_mask(5, 5), Depth::u8), with_tile(16));
  const int read = 2 * (4 + 5 + 3 + 5 + 3) + 4 + 5 + 1, written = 2 * (2 + 3 + 2 + 2 + 2);
  const int read_bursts = 2 * (2 + 3 + 2 + 3 + 2) + 2 + 3 + 1;
  // The last 3 of 13 warps have no output, and in all others some threads only load.
  check(bytes.warps, {13, 10, std::uint64_t(read + written), 13 + 10,
                      std::uint64_t(read_bursts + written), 0, 0, 10});
  CHECK(bytes.global_reads == 400);
  CHECK(bytes.shared_writes == 400);
  CHECK(bytes.shared_reads == 256 * 25);
  CHECK(bytes.mask_reads == 256 * 25);
  CHECK(bytes.global_writes == 256);
  // A row of the tile has as many floats as the block has threads, 20, so the threads of a warp
  // lie side by side in the banks wherever the row ends, and none meet.
  check(watched("tiled-in", problem_of(box_mask(5, 5), Depth::f32), with_tile(16)).warps,
        {13, 10, 2 * (7 + 8 + 6 + 8 + 7) + 7 + 8 + 3 + 2 * (4 + 4 + 4 + 3 + 3),
         12 * 4 + 2 + 2 * (4 + 3 + 4 + 3 + 3), 2 * (5 + 7 + 4 + 7 + 5) + 5 + 7 + 2 + 22, 0, 0, 10});
  // So it is in the general kernel.
  const Counts general = watched("tiled-in", problem_of(box_mask(5, 4), Depth::f32), with_tile(16));
  CHECK(general.warps.bank_conflicts == 0);
}

// Each of 36 rows is 32 samples and 4 more, two before and two behind the next sector.
TEST_CASE("tiled-out: the halo's narrow columns cost sectors of their own") {
  if (emulator_missing()) return;
  const Counts bytes =
      watched("tiled-out", problem_of(box_mask(5, 5), Depth::u8), with_tile(32, 1));
  check(bytes.warps, {32, 32, 36 * (2 + 2) + 32, 36 * 2 + 32, 36 * (1 + 2) + 32, 0, 32, 0});
  CHECK(bytes.shared_writes == 36 * 36);
  CHECK(bytes.shared_reads == 32 * 32 * 25);
  CHECK(bytes.mask_reads == 32 * 32 * 25);
  check(watched("tiled-out", problem_of(box_mask(5, 5), Depth::f32), with_tile(32, 1)).warps,
        {32, 32, 36 * (5 + 2) + 4 * 32, 36 * (4 + 1) + 4 * 32, 36 * (3 + 2) + 2 * 32, 0, 32, 0});
  // A thread of four outputs takes a weight once for all of them.
  const Counts coarse = watched("tiled-out", problem_of(box_mask(5, 5), Depth::u8));
  CHECK(coarse.mask_reads == 32 * 8 * 25);
  CHECK(coarse.global_writes == 32 * 32);
}

TEST_CASE("cached: the first lane and the last leave the tile") {
  if (emulator_missing()) return;
  const Counts c = watched("cached", problem_of(box_mask(3, 1), Depth::u8), with_tile(32));
  check(c.warps, {1, 1, 1 + 2 + 1, 1 + 2 + 1, 4, 0, 0, 1});
  CHECK(c.global_reads == 32 + 2);
  CHECK(c.shared_reads == 3 * 32 - 2);
}

// The first output is two to the left of the block's first column, so loads begin four to the left.
TEST_CASE("unrolled: wide loads are side by side, the writes of four outputs are not") {
  if (emulator_missing()) return;
  const Counts c = watched("unrolled", problem_of(box_mask(5, 5), Depth::u8));
  CHECK(c.global_reads == 256 * 5 * 8);
  CHECK(c.global_writes == 256 * 4);
  CHECK(c.mask_reads == 256 * 25);
  CHECK(c.warps.sectors == 8 * 5 * (5 + 4) + 8 * (5 + 5 + 4 + 4));
  CHECK(c.warps.fewest_sectors == 8 * 5 * 2 * 4 + 8 * 4);
  CHECK(c.warps.divergent_warps == 0);
}

// 20 x 20 threads load a sample each, and 16 x 16 of them compute, so that 10 warps have both
// kinds. 32 threads a row load 36 columns, four of them twice, and each computes one output. A
// thread at a side of its tile reads other memory than the others.
TEST_CASE("warps diverge while they load, or while they compute") {
  if (emulator_missing()) return;
  const auto check = [](const Counts& counts, std::uint64_t loading, std::uint64_t computing) {
    CHECK(counts.warps.diverge_loading == loading);
    CHECK(counts.warps.diverge_computing == computing);
    CHECK(counts.warps.divergent_warps == std::max(loading, computing));
  };
  const Problem square = problem_of(box_mask(5, 5), Depth::f32);
  check(watched("basic", square), 0, 0);
  check(watched("tiled-in", square, with_tile(16)), 0, 10);
  check(watched("tiled-out", square, with_tile(32, 1)), 32, 0);
  check(watched("cached", problem_of(box_mask(3, 1), Depth::u8), with_tile(32)), 0, 1);
}

TEST_CASE(
    "a lane that differs on both sides of a barrier differs twice, and its warp diverges once") {
  WarpWatch watch;
  watch.begin(64);
  watch.access(3, 1, Memory::none);
  watch.barrier();
  watch.access(3, 2, Memory::none);
  watch.barrier();
  for (std::uint32_t lane = 0; lane < 64; ++lane) watch.access(lane, 3, Memory::none);
  watch.access(40, 4, Memory::none);
  WarpCounts counts;
  watch.end(counts);
  check(counts, {2, 2, 0, 0, 0, 0, 1, 1});
  WarpCounts once;
  watch.begin(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) watch.access(lane, lane % 2, Memory::none);
  watch.barrier();
  for (std::uint32_t lane = 0; lane < 32; ++lane) watch.access(lane, 1 - lane % 2, Memory::none);
  watch.end(once);
  check(once, {1, 1, 0, 0, 0, 0, 1, 1});
}

// 96 x 16 outputs are 3 x 2 blocks of 8 warps, and a warp is a piece of a row.
TEST_CASE("ghost cells make the warps at the picture's sides diverge") {
  if (emulator_missing()) return;
  const auto divergent = [](int width, Border border) {
    const Problem p{width, 16, 1, Depth::u8, border, 0, box_mask(5, 5)};
    Picture in = Picture::of(p), out = Picture::of(p);
    in.fill(Fill::noise, 51);
    PlanOptions options;
    options.watch = Watch::all;
    const auto plan = find_strategy("basic")->prepare(p, DeviceKind::emulator, options);
    plan->run(in.view(), out.view());
    CHECK(plan->counts().warps.warps == unsigned((width + 31) / 32 * 16));
    CHECK(plan->counts().global_writes == unsigned(width * 16));
    return plan->counts().warps.divergent_warps;
  };
  CHECK(divergent(96, Border::constant) == 2 * 16);
  // Outputs at an edge take the slow loop: in the first two rows and the last two all threads of a
  // warp do.
  CHECK(divergent(96, Border::replicate) == 2 * (16 - 4));
  // The last block has 4 columns of outputs, and 28 columns of threads end at once.
  CHECK(divergent(100, Border::replicate) == (16 - 4) + 16);
}

TEST_CASE("formula and count of warps agree: strategies, tiles, masks, depths, pitches") {
  if (emulator_missing()) return;
  struct Case {
    Runner runner;
    Problem problem;
    bool padded;
  };
  std::vector<Case> cases;
  for (const Runner& runner : runners()) {
    if (runner.device != DeviceKind::emulator || !runner.strategy->block_counts) continue;
    for (const auto& [w, h] : {std::pair{1, 1}, {5, 5}, {4, 7}, {9, 1}, {15, 15}, {31, 3}}) {
      for (const int tile : {0, 5, 16, 32, 100}) {
        for (const Depth depth : {Depth::u8, Depth::f32}) {
          for (const bool padded : {true, false}) {
            Problem p = problem_of(box_mask(w, h), depth);
            if (w == 4) p.mask = anchored(p.mask, 0, h - 1);
            Runner tuned = runner;
            if (tile && !runner.strategy->has(Setting::tile)) continue;
            if (tile) tuned.tuning[Setting::tile] = tile;
            if (!runner.strategy->refusal(p, tuned.tuning).empty()) continue;
            cases.push_back({tuned, p, padded});
          }
        }
      }
    }
  }
  Numbers<std::string> settings;
  cases = by_pairs(std::move(cases), [&](const Case& c) {
    Tuning words = c.runner.tuning;
    words[Setting::tile] = 0;
    return Levels{levels_of(c.runner)[0],         settings(to_string(words)),
                  c.runner.tuning[Setting::tile], c.problem.mask.width,
                  int(c.problem.depth),           c.padded};
  });
  int blocks = 0;
  for (const auto& [runner, p, padded] : cases) {
    const auto block = watch_middle_block(*runner.strategy, p, runner.tuning, padded);
    // Only the strategies of transform/ have settings without formulas.
    if (!block && runner.strategy->has(Setting::domain)) continue;
    INFO(runner.strategy->name << ", " << to_string(p) << ", " << to_string(runner.tuning)
                               << (padded ? ", padded" : ", packed"));
    REQUIRE(block);
    for (const CountName& count : watched_counts()) {
      INFO(count.name);
      CHECK(count.of(block->formula) == count.of(block->count));
    }
    ++blocks;
  }
  CHECK(blocks > 30);
}

}  // namespace convfilt::test
