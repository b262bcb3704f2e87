/// Load steps and uses, as pictures show them, are what the emulator saw the kernels do. Here they
/// are held to the published orders, so a kernel that loads in another order is found out.
#include "src/lab/explain/block_trace.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kernels/registry.hpp"
#include "src/lab/explain/block_panels.hpp"
#include "src/lab/explain/explain.hpp"
#include "src/picture/image.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

Problem problem_of(const Mask& mask) {
  Problem p;
  p.width = 100;
  p.height = 60;
  p.mask = mask;
  return p;
}

Tuning tuned(std::initializer_list<std::pair<Setting, int>> settings) {
  Tuning tuning;
  for (const auto& [setting, value] : settings) tuning[setting] = value;
  return tuning;
}

BlockTrace traced(const char* name, const Mask& mask, const Tuning& tuning = {}) {
  const Strategy* strategy = find_strategy(name);
  REQUIRE(strategy);
  const auto trace = trace_block(*strategy, problem_of(mask), tuning);
  REQUIRE(trace);
  return *trace;
}

/// The numbers as rows of text, from 10 on as letters.
std::string text_of(const SampleGrid& grid) {
  std::string text;
  for (int y = 0; y < grid.rows; ++y) {
    for (int x = 0; x < grid.columns; ++x) {
      const int value = grid.at(x, y);
      text += char(value < 10 ? '0' + value : 'a' + value - 10);
    }
    text += '\n';
  }
  return text;
}

/// The most threads that read samples in a block of a launch, whose blocks read alike.
int reading_threads(const Strategy& strategy, const Problem& p, const Tuning& tuning) {
  Recording recording;
  recording.every_block = true;
  PlanOptions options;
  options.tuning = tuning;
  options.recording = &recording;
  const auto plan = strategy.prepare(p, DeviceKind::emulator, options);
  Image in(p.width, p.height, 1, p.depth), out(p.out_width(), p.out_height(), 1, p.depth);
  for (int y = 0; y < in.height(); ++y) std::fill_n(in.view().row(y), in.row_bytes(), std::byte(1));
  plan->run(in.view(), out.view());
  CHECK(recording.reads.size() == recording.counted);
  std::map<int, std::set<std::pair<int, int>>> threads;  // of each launch
  for (const SampleRead& read : recording.reads)
    threads[read.launch].insert({read.thread_x, read.thread_y});
  std::size_t most = 0;
  for (const auto& [launch, of_launch] : threads) most = std::max(most, of_launch.size());
  return int(most);
}

}  // namespace

TEST_CASE("threads that load are those that the emulator saw read, in divisions and transforms") {
  if (emulator_missing()) return;
  const auto check = [](const char* name, const Mask& mask, const Tuning& tuning, int loading,
                        int computing) {
    const Strategy& strategy = *find_strategy(name);
    const Problem p = problem_of(mask);
    INFO(std::string(name) << ", " << to_string(p) << ", " << to_string(tuning));
    REQUIRE(strategy.refusal(p, tuning).empty());
    const Geometry g = strategy.geometry(p, tuning);
    CHECK(g.loading_threads == loading);
    CHECK(g.computing_threads == computing);
    CHECK(reading_threads(strategy, p, tuning) == loading);
  };
  const Tuning block12 = tuned({{Setting::block, 12}});
  const auto divisions = [](int block, Domain domain) {
    return tuned(
        {{Setting::block, block}, {Setting::domain, domain}, {Setting::accumulate, kInDivisions}});
  };
  // Frames of 16 x 16 take two blocks of 32 x 8 threads, the fuller of which has 8 rows.
  check("overlap-add", box_mask(5, 5), block12, 12 * 8, 16 * 8);
  check("overlap-add", box_mask(5, 1), block12, 12 * 8, 16 * 8);
  check("overlap-add", box_mask(1, 5), block12, 12 * 8, 12 * 8);
  check("overlap-add", box_mask(5, 5), divisions(12, kFrequency), 12 * 8, 16 * 8);
  check("in-parts", box_mask(8, 8), tuned({{Setting::block, 8}, {Setting::part, 4}}), 64, 11 * 8);
  check("overlap-save", box_mask(5, 5), block12, 12 * 8, 8 * 8);
  check("overlap-save", box_mask(5, 5), tuned({{Setting::block, 40}}), 256, 256);
  check("overlap-add", box_mask(5, 5), divisions(0, kSpatial), 256, 256);
  check("overlap-add", box_mask(5, 1), divisions(16, kSpatial), 16 * 8, 20 * 8);
  check("overlap-add", box_mask(5, 5), divisions(5, kSpatial), 5 * 5, 9 * 8);
  check("in-parts", box_mask(9, 9),
        tuned({{Setting::domain, kSpatial}, {Setting::block, 12}, {Setting::part, 3}}), 12 * 8,
        14 * 8);
}

TEST_CASE("tiled-in loads its tile in one step, and its last columns and rows of threads idle") {
  if (emulator_missing()) return;
  const BlockTrace trace = traced("tiled-in", box_mask(3, 3), tuned({{Setting::tile, 4}}));
  CHECK(text_of(trace.steps) == "111111\n111111\n111111\n111111\n111111\n111111\n");
  CHECK(trace.steps.left == -1);
  CHECK(trace.steps.top == -1);
  CHECK(trace.block_columns == 6);
  REQUIRE(trace.loads.size() == 1);
  CHECK(trace.loads[0].loads == 36);
  CHECK(trace.loads[0].x == -1);
  for (int row = 0; row < 6; ++row)
    for (int col = 0; col < 6; ++col)
      CHECK(trace.threads[std::size_t(row * 6 + col)].count == (row < 4 && col < 4 ? 9 : 0));
}

TEST_CASE("tiled-out loads in sweeps, regions or two steps, as halo_loads.hpp draws them") {
  if (emulator_missing()) return;
  const auto steps = [](Halo halo, const Mask& mask) {
    return text_of(
        traced("tiled-out", mask, tuned({{Setting::tile, 4}, {Setting::halo, halo}})).steps);
  };
  const Mask mask = box_mask(3, 3);
  CHECK(steps(kSweeps, mask) == "111122\n111122\n111122\n111122\n333344\n333344\n");
  CHECK(steps(kRegions, mask) == "122223\n455556\n455556\n455556\n455556\n788889\n");
  CHECK(steps(kTwoStep, mask) == "111111\n111111\n111122\n222222\n222222\n223333\n");
  CHECK(steps(kSweeps, box_mask(6, 2)) ==
        "111122223\n111122223\n111122223\n111122223\n444455556\n");
  CHECK(steps(kRegions, box_mask(2, 6)) ==
        "12222\n12222\n12222\n34444\n34444\n34444\n34444\n56666\n56666\n");
  CHECK(traced("tiled-out", mask, tuned({{Setting::tile, 4}, {Setting::halo, kTwoStep}})).numbered);
}

TEST_CASE("four outputs a thread: a block of 32 x 8 sweeps an input tile of 34 x 34") {
  if (emulator_missing()) return;
  const BlockTrace trace = traced("tiled-out", box_mask(3, 3));
  CHECK(trace.block_rows == 8);
  REQUIRE(trace.loads.size() == 10);
  for (int y = 0; y < 34; ++y)
    for (int x = 0; x < 34; ++x) CHECK(trace.steps.at(x, y) == y / 8 * 2 + x / 32 + 1);
  CHECK(trace.loads[0].loads == 256);
  CHECK(trace.loads[1].loads == 16);
  CHECK(trace.loads[9].loads == 4);
  for (const ThreadUses& thread : trace.threads) CHECK(thread.count == 4 * 9);
  CHECK(trace.threads[0].top == -1);
  CHECK(trace.threads[0].bottom == 3 * 8 + 1);
}

TEST_CASE("uses of each sample: 1 2 3 4 5 5 ... 5 4 3 2 1, whatever loads them") {
  if (emulator_missing()) return;
  const Mask mask = anchored(box_mask(5, 4), 1, 3);
  const auto along = [](int place, int outputs, int side) {
    return std::min({place + 1, outputs, side, outputs + side - 1 - place});
  };
  for (const auto& [name, tuning] : {std::pair{"tiled-in", tuned({{Setting::tile, 8}})},
                                     {"tiled-out", tuned({{Setting::tile, 8}})},
                                     {"tiled-out", tuned({})},
                                     {"cached", tuned({{Setting::tile, 8}})},
                                     {"basic", tuned({})},
                                     {"texture", tuned({})},
                                     {"overlap-save", tuned({{Setting::domain, kSpatial}})}}) {
    INFO(std::string(name) << ' ' << to_string(tuning));
    const BlockTrace trace = traced(name, mask, tuning);
    const int columns = trace.uses.columns - 4, rows = trace.uses.rows - 3;
    CHECK(trace.uses.left == -1);
    CHECK(trace.uses.top == -3);
    std::int64_t taps = 0;
    for (const ThreadUses& thread : trace.threads) taps += thread.count;
    CHECK(taps == columns * rows * 20);
    for (int y = 0; y < trace.uses.rows; ++y)
      for (int x = 0; x < trace.uses.columns; ++x)
        CHECK(trace.uses.at(x, y) == along(x, columns, 5) * along(y, rows, 4));
  }
}

TEST_CASE("threads compute their outputs in the order that a picture numbers") {
  if (emulator_missing()) return;
  const Mask mask = box_mask(5, 3);
  for (const auto& [name, tuning] :
       {std::pair{"tiled-in", tuned({{Setting::tile, 8}})},
        {"tiled-out", tuned({{Setting::tile, 8}})},
        {"tiled-out", tuned({})},
        {"cached", tuned({})},
        {"basic", tuned({})},
        {"overlap-save", tuned({{Setting::domain, kSpatial}, {Setting::block, 40}})}}) {
    INFO(std::string(name) << ' ' << to_string(tuning));
    const BlockTrace trace = traced(name, mask, tuning);
    const Geometry g = find_strategy(name)->geometry(problem_of(mask), tuning);
    // What each thread uses by the picture: the rectangle around its outputs' samples.
    std::vector<ThreadUses> drawn(trace.threads.size());
    for (int row = 0; row < g.out_rows; ++row) {
      for (int col = 0; col < g.out_columns; ++col) {
        const int turn = turn_of_output(g, trace, col, row) - 1;
        const int across = (g.out_columns + trace.block_columns - 1) / trace.block_columns;
        const int x = col - turn % across * trace.block_columns;
        const int y = row - turn / across * trace.block_rows;
        REQUIRE(x >= 0);
        REQUIRE(x < trace.block_columns);
        REQUIRE(y >= 0);
        REQUIRE(y < trace.block_rows);
        ThreadUses& thread = drawn[std::size_t(y * trace.block_columns + x)];
        thread.count += 15;
        thread.left = std::min(thread.left, col - 2);
        thread.right = std::max(thread.right, col + 2);
        thread.top = std::min(thread.top, row - 1);
        thread.bottom = std::max(thread.bottom, row + 1);
      }
    }
    for (std::size_t k = 0; k < drawn.size(); ++k) {
      CHECK(drawn[k].count == trace.threads[k].count);
      CHECK(drawn[k].left == trace.threads[k].left);
      CHECK(drawn[k].right == trace.threads[k].right);
      CHECK(drawn[k].top == trace.threads[k].top);
      CHECK(drawn[k].bottom == trace.threads[k].bottom);
    }
  }
}

TEST_CASE("cached loads its tile in one step, and reads the halo tap by tap") {
  if (emulator_missing()) return;
  const BlockTrace trace = traced("cached", box_mask(3, 3), tuned({{Setting::tile, 4}}));
  CHECK(text_of(trace.steps) == "1111\n1111\n1111\n1111\n");
  CHECK(trace.steps.left == 0);
  CHECK(text_of(trace.direct) == "123321\n200002\n300003\n300003\n200002\n123321\n");
  // Its own cell of shared memory serves all outputs around it.
  CHECK(trace.uses.at(3, 3) == 9);
}

TEST_CASE("unrolled: each thread reads the whole loads that a picture outlines") {
  if (emulator_missing()) return;
  for (const auto& [w, h] : {std::pair{5, 5}, {3, 3}, {6, 2}, {1, 9}}) {
    const Mask mask = box_mask(w, h);
    const BlockTrace trace = traced("unrolled", mask);
    const Geometry g = find_strategy("unrolled")->geometry(problem_of(mask), {});
    CHECK(g.wide_columns == (w + 3 + 3) / 4 * 4);
    for (int row = 0; row < 8; ++row) {
      for (int col = 0; col < 32; ++col) {
        const ThreadUses& thread = trace.threads[std::size_t(row * 32 + col)];
        CHECK(thread.count == g.wide_columns * h);
        CHECK(thread.left == 4 * col - mask.anchor_x);
        CHECK(thread.right == thread.left + g.wide_columns - 1);
        CHECK(thread.top == row - mask.anchor_y);
        CHECK(thread.bottom == thread.top + h - 1);
      }
    }
  }
}

TEST_CASE("scatter keeps each sample for all its additions") {
  if (emulator_missing()) return;
  const BlockTrace trace = traced("scatter", box_mask(3, 3));
  CHECK(trace.steps.columns == 32);
  CHECK(trace.loads.size() == 1);
  for (const int uses : trace.uses.values) CHECK(uses == 9);
}

TEST_CASE("geometries have the threads that are launched, and as many busy ones") {
  if (emulator_missing()) return;
  const auto check = [](const char* name, const Mask& mask, int height, const Tuning& tuning) {
    const Strategy& strategy = *find_strategy(name);
    Problem p = problem_of(mask);
    p.width = 160;
    p.height = height;
    INFO(name << ", " << to_string(p) << ", " << to_string(tuning));
    REQUIRE(strategy.refusal(p, tuning).empty());
    const Geometry g = strategy.geometry(p, tuning);
    const auto trace = trace_block(strategy, p, tuning);
    REQUIRE(trace);
    CHECK(g.block_columns == trace->block_columns);
    CHECK(g.block_rows == trace->block_rows);
    CHECK(g.computing_threads ==
          std::ranges::count_if(trace->threads, [](const ThreadUses& t) { return t.count > 0; }));
    int most = 0, all = 0;
    for (const LoadStep& step : trace->loads) {
      most = std::max(most, step.loads);
      all += step.loads;
    }
    CHECK(g.loading_threads >= most);
    CHECK(g.loading_threads <= all);
    if (std::string(name) == "overlap-save") CHECK(g.loading_threads == most);
    return g;
  };
  const auto in_space = [](int block) {
    return tuned({{Setting::domain, kSpatial}, {Setting::block, block}});
  };
  // 20 samples for 16 outputs, as in the lectures: 16 threads load, in two sweeps, and compute.
  const Geometry line = check("overlap-save", box_mask(5, 1), 1, in_space(20));
  CHECK(line.block_columns == 16);
  CHECK(line.loading_threads == 16);
  CHECK(line.computing_threads == 16);
  // 16 columns of outputs leave half of the 32 columns of threads idle.
  const Geometry tile = check("overlap-save", box_mask(5, 5), 60, in_space(20));
  CHECK(tile.loading_threads == 20 * 8);
  CHECK(tile.computing_threads == 16 * 8);
  const Geometry added = check("overlap-add", box_mask(5, 1), 1, in_space(16));
  CHECK(added.block_rows == 1);
  CHECK(added.loading_threads == 16);
  CHECK(added.computing_threads == 20);
  for (const char* name : {"overlap-save", "overlap-add", "in-parts"})
    for (const auto& [w, h] : {std::pair{5, 1}, {1, 5}, {4, 7}})
      for (const int block : {7, 16, 40})
        for (const int height : {1, 60}) {
          if (h > height) continue;
          check(name, box_mask(w, h), height, in_space(block));
        }
  check("tiled-in", box_mask(5, 5), 60, {});
  check("tiled-out", box_mask(5, 5), 60, {});
  check("cached", box_mask(5, 1), 1, {});
}

TEST_CASE("blocks of every strategy in the textbook are traced, and no library's") {
  if (emulator_missing()) return;
  for (const char* name : {"basic", "tiled-in", "tiled-out", "cached", "texture", "scatter"})
    for (const auto& [w, h] : {std::pair{1, 1}, {5, 5}, {1, 9}, {9, 1}, {4, 7}, {31, 31}})
      traced(name, box_mask(w, h));
  for (const char* name : {"overlap-save", "overlap-add", "in-parts"}) {
    traced(name, box_mask(5, 5), tuned({{Setting::domain, kSpatial}}));
    CHECK(!trace_block(*find_strategy(name), problem_of(box_mask(5, 5)), {}));
  }
  CHECK(!trace_block(*find_strategy("cpu"), problem_of(box_mask(5, 5)), {}));
}

TEST_CASE("every output has a block, within whose output tile it lies") {
  for (const char* name : {"tiled-in", "tiled-out", "cached", "overlap-save", "overlap-add"})
    for (const Mode mode : {Mode::same, Mode::valid, Mode::full})
      for (const Border border : {Border::constant, Border::replicate})
        for (const auto& [w, h] : {std::pair{5, 5}, {1, 4}, {7, 2}}) {
          const Strategy& strategy = *find_strategy(name);
          Problem p = problem_of(box_mask(w, h));
          p.width = 76;
          p.height = 56;
          p.mode = mode;
          p.border = border;
          INFO(name << ", " << to_string(p));
          const TileAxes axes = tile_axes(p, block_geometry(strategy, p, {}));
          for (const TileAxis* axis : {&axes.x, &axes.y})
            for (int output = 0; output < axis->outputs; ++output) {
              const int tile = axis->tile_of(output);
              REQUIRE(tile >= 0);
              REQUIRE(tile < axis->tiles());
              CHECK(output >= axis->first_output(tile));
              CHECK(output < axis->first_output(tile) + axis->tile);
            }
        }
}

}  // namespace convfilt::test
