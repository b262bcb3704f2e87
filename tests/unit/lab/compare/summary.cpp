/// What a comparison says in words: of tiles by the counts that show why, and only of what it
/// knows.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/lab/compare/report.hpp"

namespace convfilt::test {
namespace {

constexpr Location kGpu{DeviceKind::cuda, 0}, kEmulator{DeviceKind::emulator, 0};

Comparison comparison_of(int side) {
  Comparison c;
  c.problem = {640, 480, 1, Depth::f32, Border::replicate, 0, {}};
  c.problem.mask =
      make_mask("gaussian", side, side, std::vector<double>(std::size_t(side) * side, 1));
  return c;
}

Row& kernel(Comparison& c, const char* name, double reads, double sectors, int tile,
            double pixels_per_second) {
  Row row;
  row.contender = name;
  row.location = pixels_per_second > 0 ? kGpu : kEmulator;
  row.width = 640;
  row.height = 480;
  row.tile_columns = row.tile_rows = tile;
  row.counted = Counted{reads, tile ? 9.0 : 0.0, 0, 0, {}, 1, 0, tile ? 1.0 : 0.0, sectors};
  if (pixels_per_second > 0) {
    row.times.emplace();
    row.times->pixels_per_second = pixels_per_second;
    row.times->roofline = 0.5;
    row.times->memory_bound = true;
  }
  row.accuracy = Accuracy{1e-7, 640 * 480, 640 * 480, 480, 1e-6, 0.0, 0, {}};
  c.rows.push_back(row);
  return c.rows.back();
}

std::string summary(const std::vector<Comparison>& all) {
  std::vector<const Comparison*> group;
  for (const Comparison& c : all) group.push_back(&c);
  return summary_of(group);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("where tiles lose and where they pay, with reads and sectors of both") {
  std::vector<Comparison> all = {comparison_of(3), comparison_of(9)};
  kernel(all[0], "basic", 9, 2, 0, 8e9);
  kernel(all[0], "tiled-in", 1.5, 0.5, 16, 4e9);
  kernel(all[0], "tiled-out", 1.25, 0.25, 16, 5e9);
  kernel(all[1], "basic", 81, 12, 0, 1e9);
  kernel(all[1], "tiled-out", 2.25, 0.75, 16, 3e9);
  const std::string text = summary(all);
  CHECK(contains(text, "Tiles do not pay at 3x3: at 3x3 basic is 1.60 times as fast as tiled-out"));
  CHECK(contains(text, "its 9.00 reads an output in 2.00 sectors"));
  CHECK(contains(text,
                 "Tiles pay at 9x9: at 9x9 tiled-out is 3.00 times as fast as basic, with "
                 "2.25 reads an output in 0.750 sectors where basic has 81.0 reads"));
  CHECK(contains(text, "Fastest: basic on cuda:0 at 3x3 (1.60 times as fast as tiled-out"));
  CHECK(contains(text, "memory bounds it, and allows 2.00 times that"));
  CHECK(contains(text, "Tiles are equal, in outputs: 16x16 in tiled-in and tiled-out."));
  CHECK(contains(text, "Every result keeps its family's bound"));
}

TEST_CASE("counts are never spoken of as times") {
  std::vector<Comparison> all = {comparison_of(5)};
  kernel(all[0], "basic", 25, 8, 0, 0);
  kernel(all[0], "tiled-in", 1.5, 0.5, 16, 0);
  kernel(all[0], "tiled-out", 1.25, 0.25, 32, 0);
  const std::string text = summary(all);
  CHECK(contains(text, "Kernels were counted, not timed"));
  CHECK(contains(text, "Tiles differ, in outputs: 16x16 in tiled-in; 32x32 in tiled-out."));
  for (const char* word : {"Fastest", "times as fast", "pay"}) CHECK_FALSE(contains(text, word));
}

TEST_CASE("a wrong result wins nothing, and is named") {
  std::vector<Comparison> all = {comparison_of(3)};
  kernel(all[0], "basic", 9, 2, 0, 1e9);
  kernel(all[0], "broken", 9, 2, 0, 9e9).accuracy->largest = 1;
  const std::string text = summary(all);
  CHECK(contains(text, "Fastest: basic on cuda:0 at 3x3"));
  CHECK(contains(text, "Wrong: broken on cuda:0 at 3x3."));
}

}  // namespace convfilt::test
