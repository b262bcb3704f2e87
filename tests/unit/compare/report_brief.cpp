/// The brief tables of a sweep.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "src/compare/report.hpp"

namespace convfilt::test {
namespace {

constexpr Location kGpu{DeviceKind::cuda, 0}, kEmulator{DeviceKind::emulator, 0};

Comparison comparison_of(int side, const char* mask, Depth depth = Depth::u8) {
  Comparison c;
  c.problem = {640, 480, 3, depth, Border::replicate, 0, {}};
  c.problem.mask = make_mask(mask, side, side, std::vector<double>(std::size_t(side) * side, 1));
  c.devices = {{kGpu, {"Some GPU", 0, 6e13}, 0.125, 4e12}};
  return c;
}

Row& timed(Comparison& c, const char* name, double copies) {
  Row row;
  row.contender = name;
  row.location = kGpu;
  row.width = 640;
  row.height = 480;
  row.times.emplace();
  row.times->copies = copies;
  row.times->pixels_per_second = 1 / copies;
  row.times->runs = 21;
  row.accuracy = Accuracy{0.5, 921600, 921600, 480, 0.52, 0.0, 0, {}};
  c.rows.push_back(row);
  return c.rows.back();
}

Row& refused(Comparison& c, const char* name, const char* why) {
  Row row;
  row.contender = name;
  row.location = kGpu;
  row.refused = true;
  row.refusal = why;
  c.rows.push_back(row);
  return c.rows.back();
}

std::vector<std::string> lines_of(const std::vector<Comparison>& all, bool markdown = false) {
  const ReportHead head{"1", "noise", TableKind::brief};
  std::istringstream text(markdown ? markdown_report(all, head) : text_report(all, head));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// The line with one blank between words.
std::string words_of(const std::string& line) {
  std::istringstream in(line);
  std::string all;
  for (std::string word; in >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

long count_of(const std::vector<std::string>& lines, const std::string& line) {
  return std::count(lines.begin(), lines.end(), line);
}

}  // namespace

TEST_CASE("strategies are lines and masks are columns, with auto's choice and what it loses") {
  std::vector<Comparison> all = {comparison_of(3, "16bit"), comparison_of(15, "16bit")};
  timed(all[0], "slow", 24.25).times->best = 19;
  timed(all[1], "slow", 2.40);
  Row& small = timed(all[0], "fast", 1.25);
  small.by_auto = true;
  small.times->best = 1;
  Row& large = timed(all[1], "fast", 2.5);
  large.by_auto = true;
  large.times->best = 1.04;
  large.accuracy = Accuracy{0.51, 1000, 921600, 2, 0.52, 0.0, 9, {}};
  const auto lines = lines_of(all);
  REQUIRE(lines.size() > 7);
  CHECK(lines[0] == "noise: 640x480x3 u8, 16bit masks, border replicate");
  CHECK(lines[1] ==
        "  cuda:0: Some GPU; a copy of as many bytes: 0.125 ms, 4000 GB/s; fp32 peak 60000 GFLOP/s");
  CHECK(lines[2] == "                       time in copies");
  CHECK(words_of(lines[3]) == "strategy device 3x3 15x15");
  CHECK(words_of(lines[4]) == "slow cuda:0 24.3 2.40");
  CHECK(words_of(lines[5]) == "fast cuda:0 1.25 * 2.50 *");
  CHECK(words_of(lines[6]) == "auto / best 1.00 1.04");
}

TEST_CASE("what is wrong, on a piece, refused or failed is marked, and the reason told once") {
  std::vector<Comparison> all = {comparison_of(3, "8bit"), comparison_of(5, "8bit"),
                                 comparison_of(7, "8bit")};
  timed(all[0], "wrong", 2).accuracy->largest = 3;
  timed(all[1], "wrong", 2).width = 100;
  refused(all[2], "wrong", "too large").refused = false;
  for (Comparison& c : all) refused(c, "never", "only on Sundays");
  timed(all[0], "small", 4);
  for (const int k : {1, 2}) refused(all[std::size_t(k)], "small", "only 3x3");
  const auto lines = lines_of(all);
  CHECK(lines[4] == "  wrong     cuda:0  2.00 !   2.00 ~   failed");
  CHECK(lines[5] == "  small     cuda:0  4.00    refused  refused");
  CHECK(count_of(lines, "  never on cuda:0: only on Sundays (3x3, 5x5 and 7x7)") == 1);
  CHECK(count_of(lines, "  small on cuda:0: only 3x3 (5x5 and 7x7)") == 1);
  CHECK(count_of(lines, "  wrong on cuda:0: too large (7x7)") == 1);
  CHECK(count_of(lines, "  !: wrong, beyond what its family promises; ~: on a piece of the picture") == 1);
}

TEST_CASE("a table a picture and kind of masks; other masks by their names; counts by themselves") {
  std::vector<Comparison> all = {
      comparison_of(3, "16bit"),    comparison_of(3, "8bit"),
      comparison_of(3, "emboss3"),  comparison_of(5, "mean"),
      comparison_of(7, "gaussian"), comparison_of(3, "16bit", Depth::f32)};
  for (Comparison& c : all) timed(c, "fast", 2);
  Row counted;
  counted.contender = "kernel";
  counted.location = kEmulator;
  counted.counted = Counted{1.25, 9, 0, 0, 7.2, 1, 0, 1.125, 0.25};
  counted.width = 640;
  counted.height = 480;
  counted.accuracy = Accuracy{0.5, 9, 9, 3, 0.52, 0.0, 0, {}};
  all[0].rows.push_back(counted);
  const auto lines = lines_of(all);
  for (const char* title :
       {"u8, 16bit masks", "u8, 8bit masks", "u8", "f32, 16bit masks", "u8, gaussian masks"})
    CHECK(count_of(lines, "noise: 640x480x3 " + std::string(title) + ", border replicate") == 1);
  CHECK(count_of(lines, "  strategy  device  emboss3 3x3  mean 5x5") == 1);
  CHECK(std::ranges::count(lines, "kernel emulator 1.25 0.250", words_of) == 1);
  const auto markdown = lines_of(all, true);
  CHECK(count_of(markdown, "## noise: 640x480x3 u8, 8bit masks, border replicate") == 1);
  CHECK(count_of(markdown, "| fast | cuda:0 | 2.00 |") == 3);
}

TEST_CASE("many strategies fill no screen: the lectures', auto's, the fastest and the wrong") {
  std::vector<Comparison> all = {comparison_of(3, "gaussian")};
  for (int k = 0; k < 14; ++k) {
    Row& row = timed(all[0], ("k" + std::to_string(k)).c_str(), 20 - k);
    row.times->best = (20 - k) / 7.0;
    row.by_auto = k == 1;
    if (k == 2) row.accuracy->largest = 3;
  }
  for (const char* name : {"basic", "tiled-in", "tiled-out", "cached"})
    timed(all[0], name, 50).times->best = 50 / 7.0;
  const auto lines = lines_of(all);
  const auto shows = [&](const std::string& name) {
    return std::ranges::any_of(lines, [&](const std::string& line) {
      return line.starts_with("  " + name + " ") && line.find("cuda:0") != line.npos;
    });
  };
  for (const char* name : {"k1", "k2", "k12", "k13", "basic", "tiled-in", "tiled-out", "cached"})
    CHECK_MESSAGE(shows(name), name);
  for (const char* name : {"k0", "k3", "k11"}) CHECK_MESSAGE(!shows(name), name);
  CHECK(count_of(lines, "  --table full has 10 more, slower or just counted") == 1);
  all[0].rows.resize(12);
  CHECK(std::ranges::count_if(lines_of(all), [](const std::string& line) {
          return line.starts_with("  k");
        }) == 12);
}

/// The paragraph at the end.
std::string paragraph_of(const std::vector<Comparison>& all) {
  return lines_of(all).back();
}

TEST_CASE("the paragraph says who won, by what, what bounds it, and what tiles brought") {
  std::vector<Comparison> all = {comparison_of(3, "gaussian"), comparison_of(9, "gaussian")};
  const auto kernel = [&](std::size_t mask, const char* name, double rate, double reads,
                          double sectors, int tile) {
    Row& row = timed(all[mask], name, 1 / rate);
    row.times->pixels_per_second = rate;
    row.times->roofline = 0.5;
    row.times->memory_bound = mask == 0;
    row.counted = Counted{reads, 9, 0, 0, 7.2, 1, 0, 1.25, sectors};
    row.tile_columns = row.tile_rows = tile;
  };
  kernel(0, "basic", 3, 9, 0.5, 0);
  kernel(0, "tiled-in", 2, 1.25, 0.125, 16);
  kernel(0, "tiled-out", 1, 1.25, 0.125, 16);
  kernel(1, "basic", 1, 81, 4.5, 0);
  kernel(1, "tiled-in", 4, 2.25, 0.25, 16);
  const std::string text = paragraph_of(all);
  const auto says = [&](const std::string& words) {
    INFO(words << " | " << text);
    CHECK(text.find(words) != text.npos);
  };
  says("Fastest: basic on cuda:0 at 3x3 (1.50 times as fast as tiled-in on cuda:0; memory bounds "
       "it at 2.00 times that); tiled-in on cuda:0 at 9x9 (4.00 times as fast as basic on cuda:0; "
       "arithmetic bounds it at 2.00 times that).");
  says("Tiles do not pay at 3x3: at 3x3 basic is 1.50 times as fast as tiled-in");
  says("9.00 reads an output in 0.500 sectors");
  says("Tiles pay at 9x9: at 9x9 tiled-in is 4.00 times as fast as basic, with 2.25 reads an "
       "output in 0.250 sectors where basic has 81.0 reads an output in 4.50 sectors.");
  says("Tiles are equal, in outputs: 16x16 in tiled-in and tiled-out.");
  CHECK(text.find("No GPU") == text.npos);
  all[1].rows.back().tile_rows = 8;
  CHECK(paragraph_of(all).find("Tiles differ, in outputs: 16x16 and 16x8 in tiled-in; 16x16 in "
                               "tiled-out.") != std::string::npos);
  all[0].rows[0].accuracy->largest = 3;
  const std::string wrong = paragraph_of(all);
  CHECK(wrong.find("Fastest: tiled-in") != wrong.npos);
  CHECK(wrong.find("Wrong: basic on cuda:0 at 3x3.") != wrong.npos);
}

TEST_CASE("counts are no times: without a time nobody wins") {
  std::vector<Comparison> all = {comparison_of(3, "gaussian")};
  for (const char* name : {"basic", "tiled-in"}) {
    Row& row = timed(all[0], name, 1);
    row.times.reset();
    row.location = kEmulator;
    row.counted = Counted{9, 9, 0, 0, 7.2, 1, 0, 1.25, 0.5};
    row.tile_columns = row.tile_rows = name[0] == 't' ? 16 : 0;
  }
  const std::string text = paragraph_of(all);
  CHECK(text.find("Fastest") == text.npos);
  CHECK(text.find("By count, at 3x3 basic asks for 9.00 reads") != text.npos);
}

}  // namespace convfilt::test
