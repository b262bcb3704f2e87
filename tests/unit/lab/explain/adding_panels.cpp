/// The launches that pictures number are those in which the emulator saw the blocks run.
#include "src/lab/explain/block_panels.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "kernels/registry.hpp"
#include "src/lab/explain/panel.hpp"
#include "src/lab/explain/tile_picture.hpp"
#include "src/picture/image.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

struct Case {
  const char* name;
  int mask_columns, mask_rows;
  std::initializer_list<std::pair<Setting, int>> settings;
};

Tuning tuned(const Case& c) {
  Tuning tuning;
  for (const auto& [setting, value] : c.settings) tuning[setting] = value;
  return tuning;
}

Problem problem_of(const Case& c) {
  Problem p;
  p.width = 61;
  p.height = 47;
  p.mask = box_mask(c.mask_columns, c.mask_rows);
  return p;
}

/// The reads of all blocks of all launches.
Recording recorded(const Case& c) {
  const Problem p = problem_of(c);
  Recording recording;
  recording.every_block = true;
  PlanOptions options;
  options.tuning = tuned(c);
  options.recording = &recording;
  const auto plan = find_strategy(c.name)->prepare(p, DeviceKind::emulator, options);
  Image in(p.width, p.height, 1, p.depth), out(p.width, p.height, 1, p.depth);
  for (int y = 0; y < in.height(); ++y) std::fill_n(in.view().row(y), in.row_bytes(), std::byte(1));
  plan->run(in.view(), out.view());
  REQUIRE(recording.reads.size() == recording.counted);
  return recording;
}

constexpr std::pair<Setting, int> kInSpace{Setting::domain, kSpatial};

}  // namespace

TEST_CASE("each block's samples are read in the launch that a picture numbers") {
  if (emulator_missing()) return;
  for (const Case& c : {Case{"overlap-add", 5, 5, {kInSpace, {Setting::block, 8}}},
                        {"overlap-add", 7, 1, {kInSpace, {Setting::block, 8}}},
                        {"overlap-add", 6, 3, {kInSpace, {Setting::block, 4}, {Setting::steps, 3}}},
                        {"overlap-add", 5, 4, {{Setting::block, 12}}}}) {
    const Tuning tuning = tuned(c);
    const Problem p = problem_of(c);
    INFO(std::string(c.name) << ' ' << to_string(tuning) << ", " << to_string(p));
    const Geometry g = find_strategy(c.name)->geometry(p, tuning);
    const Recording recording = recorded(c);
    const int parts = int(g.adding_x.parts.size() * g.adding_y.parts.size());
    const int launches = g.adding_x.steps * g.adding_y.steps;
    CHECK(recording.launches == parts * launches);
    for (const SampleRead& read : recording.reads) {
      // Samples count from that under weight (0, 0) of output (0, 0). Only samples of the image
      // that no ghost cell repeats tell their block.
      if (read.x == 0 || read.y == 0 || read.x == p.width - 1 || read.y == p.height - 1) continue;
      // Under a later part, blocks are read that lie as much further on.
      const int part = read.launch / launches;
      const int block_x = (read.x + p.mask.anchor_x) / g.in_columns;
      const int block_y = (read.y + p.mask.anchor_y) / g.in_rows;
      REQUIRE(read.launch == part * launches + launch_of(g, block_x, block_y) - 1);
    }
  }
}

TEST_CASE("in steps, each launch of in-parts reads the blocks of its division, and no others") {
  if (emulator_missing()) return;
  const std::pair<Setting, int> steps{Setting::accumulate, kInSteps};
  for (const Case& c :
       {Case{"in-parts", 8, 8, {kInSpace, {Setting::block, 8}, {Setting::part, 4}, steps}},
        {"in-parts", 5, 9, {kInSpace, {Setting::block, 6}, {Setting::part, 3}, steps}},
        {"in-parts", 4, 7, {kInSpace, {Setting::block, 12}, {Setting::part, 3}, steps}}}) {
    const Problem p = problem_of(c);
    INFO(to_string(tuned(c)) << ", " << to_string(p));
    const Geometry g = find_strategy(c.name)->geometry(p, tuned(c));
    const int across = g.adding_x.divisions, down = g.adding_y.divisions;
    CHECK(across == g.adding_x.sums + 1);
    CHECK(g.private_sums == 1);
    const Recording recording = recorded(c);
    CHECK(recording.launches == across * down);
    // Some part m of the mask, and block j with it, are in division (m + q * j) mod (q + 1).
    const auto has = [](const Adding& adding, int division, int block) {
      for (int m = 0; m < int(adding.parts.size()); ++m)
        if ((m + adding.sums * block) % adding.divisions == division) return true;
      return false;
    };
    for (const SampleRead& read : recording.reads) {
      if (read.x == 0 || read.y == 0 || read.x == p.width - 1 || read.y == p.height - 1) continue;
      REQUIRE(has(g.adding_x, read.launch % across, (read.x + p.mask.anchor_x) / g.in_columns));
      REQUIRE(has(g.adding_y, read.launch / across, (read.y + p.mask.anchor_y) / g.in_rows));
    }
  }
}

TEST_CASE("blocks of one launch write disjoint outputs, as the picture outlines them") {
  for (const Case& c : {Case{"overlap-add", 5, 5, {}}, {"overlap-add", 31, 9, {kInSpace}}}) {
    const Geometry g = find_strategy(c.name)->geometry(problem_of(c), tuned(c));
    CHECK(g.adding_x.steps * g.in_columns >= g.out_columns);
    CHECK(g.adding_y.steps * g.in_rows >= g.out_rows);
    CHECK(launch_of(g, 0, 0) == launch_of(g, g.adding_x.steps, g.adding_y.steps));
    CHECK(launch_of(g, 0, 0) != launch_of(g, 1, 0));
    CHECK(launch_of(g, 0, 0) != launch_of(g, 0, 1));
  }
}

TEST_CASE("parts of the mask make up the mask, and every q-th reaches the same intervals") {
  const auto adding = [](int side, std::initializer_list<std::pair<Setting, int>> settings) {
    const Case c{"in-parts", side, side, settings};
    return find_strategy(c.name)->geometry(problem_of(c), tuned(c)).adding_x;
  };
  const Adding transformed = adding(9, {{Setting::block, 8}, {Setting::part, 4}});
  CHECK(transformed.parts == std::vector<int>{1, 4, 4});  // the first ones are the mask's last
  CHECK(transformed.sums == 2);
  const Adding spatial = adding(9, {kInSpace, {Setting::block, 8}, {Setting::part, 4}});
  CHECK(spatial.parts == transformed.parts);
  CHECK(spatial.sums == 2);
  CHECK(spatial.divisions == 3);
  CHECK(adding(9, {}).parts == std::vector<int>{9});
}

TEST_CASE("a page has the drawings of its strategy") {
  if (emulator_missing()) return;
  const auto script = [](const Case& c) {
    const Explanation e =
        explain(*find_strategy(c.name), problem_of(c), tuned(c), find_architecture("sm_90"));
    return tile_picture(e).script;
  };
  const auto has = [](const std::string& text, const std::string& words) {
    INFO(words);
    CHECK(text.find(words) != text.npos);
  };
  const std::string tiled_in = script({"tiled-in", 5, 5, {{Setting::tile, 8}}});
  has(tiled_in, "'C, loading: 1 step of 144 threads'");
  has(tiled_in, "'D, computing: 64 threads, 80 idle'");
  has(tiled_in, "'along a row: 1 2 3 4 5 5 5 5 4 3 2 1'");
  const std::string tiled_out = script({"tiled-out", 5, 5, {{Setting::tile, 8}}});
  has(tiled_out, "'C, loading: 4 steps of 64 threads'");
  has(tiled_out, "'D, computing: 64 threads'");
  has(script({"cached", 3, 3, {{Setting::tile, 4}}}), "'44 taps of the halo follow");
  const std::string unrolled = script({"unrolled", 5, 5, {}});
  has(unrolled, "'C, computing: 256 threads, 4 outputs each'");
  has(unrolled, "'and the 5 x 2 loads of 4 samples of thread (0, 0)'");
  // Each of 34 loads of a row is that of a thread and of its neighbour, but for both ends.
  has(unrolled, "'D, reads of each sample: up to 10'");
  has(unrolled, "'along a row: 1 1 1 1 2 2 … 2 2 1 1 1 1'");
  has(script({"overlap-add", 5, 5, {}}), "'C, 2 x 2 launches: blocks by launch'");
  const std::string in_parts =
      script({"in-parts", 9, 9, {{Setting::block, 8}, {Setting::part, 4}}});
  has(in_parts, "'C, division 0,0 of 3 x 3'");
  has(in_parts, "'E, mask of 9 x 9 in 3 x 3 parts'");
  // Neighbours add to all outputs under the other parts, and the first one is numbered as in E.
  has(in_parts, "'one sample, and where it is added under part 2,2'");
  CHECK(in_parts.find("outputs of this block alone") == std::string::npos);
  CHECK(in_parts.find(kOutputCell.colour) == std::string::npos);
  const std::string added = script({"overlap-add", 5, 5, {{Setting::domain, kSpatial}}});
  has(added, "'outputs of this block alone'");
  has(added, "'ghost cells: border replicate'");
  has(added, "'colour and number: the step of a load, the launch'");
  CHECK(script({"winograd", 3, 3, {}}).find("'C, ") == std::string::npos);
}

TEST_CASE("captions of a block that the picture's edge cuts agree") {
  if (emulator_missing()) return;
  Problem p = problem_of({"tiled-in", 5, 5, {}});
  p.width = 62;
  p.height = 40;
  Tuning tuning;
  tuning[Setting::tile] = 16;
  const Explanation e = explain(*find_strategy("tiled-in"), p, tuning, find_architecture("sm_90"));
  const std::string script = tile_picture(e, OutputAt{61, 39}).script;
  for (const char* words : {"'400 threads load, 256 compute'", "'400 threads load, 112 compute'",
                            "'D, computing: 112 threads, 288 idle'",
                            "'40 % of the threads load a sample of the picture'"}) {
    INFO(words);
    CHECK(script.find(words) != script.npos);
  }
}

}  // namespace convfilt::test
