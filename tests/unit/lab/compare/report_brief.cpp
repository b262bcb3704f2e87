/// The brief tables, and what they say in words.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "src/lab/compare/report.hpp"

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
  row.times->pixels_per_second = 1e9 / copies;
  row.times->roofline = 1 / copies;
  row.times->memory_bound = true;
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

long count_of(const std::vector<std::string>& lines, const std::string& line) {
  return std::count(lines.begin(), lines.end(), line);
}

}  // namespace

TEST_CASE("strategies are lines and masks are columns, with auto's choice and what it loses") {
  std::vector<Comparison> all = {comparison_of(3, "16bit"), comparison_of(15, "16bit")};
  timed(all[0], "slow", 24.25).times->best = 19;
  timed(all[1], "slow", 460);
  Row& small = timed(all[0], "fast", 1.25);
  small.by_auto = true;
  small.times->best = 1;
  Row& large = timed(all[1], "fast", 2.5);
  large.by_auto = true;
  large.times->best = 1.04;
  large.accuracy = Accuracy{0.51, 1000, 921600, 2, 0.52, 0.0, 9, {}};
  timed(all[1], "faster", 2);
  timed(all[1], "other", 1).family = Family::transform;
  const auto lines = lines_of(all);
  REQUIRE(lines.size() > 10);
  CHECK(lines[0] == "noise: 640x480x3 u8, 16bit masks, border replicate");
  CHECK(
      lines[1] ==
      "  cuda:0: Some GPU; a copy of as many bytes: 0.125 ms, 4000 GB/s; fp32 peak 60000 GFLOP/s");
  CHECK(lines[2] == "                              time in copies");
  CHECK(lines[3] == "  strategy            device      3x3  15x15");
  CHECK(lines[4] == "  slow                cuda:0    24.3    460");
  CHECK(lines[5] == "  fast                cuda:0    1.25*  2.50*");
  CHECK(lines[6] == "  faster              cuda:0           2.00");
  CHECK(lines[7] == "  other               cuda:0           1.00");
  CHECK(lines[8] == "  auto / family best            1.00   1.25");
  std::string words;
  for (const std::string& line : lines) words += line + "\n";
  CHECK(words.find("Fastest: fast on cuda:0 at 3x3 (19.4 times as fast as slow on cuda:0") !=
        words.npos);
  CHECK(words.find("other on cuda:0 at 15x15 (2.00 times as fast as faster on cuda:0") !=
        words.npos);
  CHECK(words.find("Every result keeps its family's bound.") != words.npos);
}

TEST_CASE("what is wrong, on a piece, refused or failed is marked, and the reason told once") {
  std::vector<Comparison> all = {comparison_of(3, "8bit"), comparison_of(5, "8bit"),
                                 comparison_of(7, "8bit")};
  timed(all[0], "wrong", 2).accuracy->largest = 3;
  timed(all[1], "wrong", 2).width = 100;
  refused(all[2], "wrong", "too large").refused = false;
  for (Comparison& c : all) refused(c, "never", "only on Sundays");
  timed(all[0], "small", 4);
  timed(all[0], "long", 219665);
  for (const int k : {1, 2}) refused(all[std::size_t(k)], "small", "only 3x3");
  const auto lines = lines_of(all);
  CHECK(lines[4] == "  wrong     cuda:0  2.00!    2.00~   failed");
  CHECK(lines[5] == "  small     cuda:0  4.00   refused  refused");
  CHECK(lines[6] == "  long      cuda:0  220k");
  CHECK(count_of(lines, "  never on cuda:0: only on Sundays") == 1);
  CHECK(count_of(lines, "  small on cuda:0: only 3x3, at 5x5 and 7x7") == 1);
  CHECK(count_of(lines, "  wrong on cuda:0: too large, at 7x7") == 1);
  CHECK(
      count_of(lines,
               "  !: wrong, beyond what its family promises; ~: on a piece of the picture, as the "
               "whole takes too long") == 1);
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
  counted.counted = Counted{1.25, 9, 0, 0, 7.2, 1, 0, {}, 0.25};
  counted.width = 640;
  counted.height = 480;
  counted.accuracy = Accuracy{0.5, 9, 9, 3, 0.52, 0.0, 0, {}};
  all[0].rows.push_back(counted);
  const auto lines = lines_of(all);
  for (const char* title :
       {"u8, 16bit masks", "u8, 8bit masks", "u8", "f32, 16bit masks", "u8, gaussian masks"})
    CHECK(count_of(lines, "noise: 640x480x3 " + std::string(title) + ", border replicate") == 1);
  CHECK(count_of(lines, "  strategy  device  emboss3 3x3  mean 5x5") == 1);
  CHECK(count_of(lines,
                 "  kernel    emulator                             1.25              0.250") == 1);
  const auto markdown = lines_of(all, true);
  CHECK(count_of(markdown, "## noise: 640x480x3 u8, 8bit masks, border replicate") == 1);
  CHECK(count_of(markdown, "| fast | cuda:0 | 2.00 |") == 3);
}

TEST_CASE("of many strategies: the lectures', auto's, the fastest and the wrong") {
  std::vector<Comparison> all = {comparison_of(3, "gaussian")};
  for (int k = 0; k < 14; ++k) {
    Row& row = timed(all[0], ("k" + std::to_string(k)).c_str(), 20 - k);
    row.times->best = (20 - k) / 7.0;
    row.by_auto = k == 1;
    if (k == 2) row.accuracy->largest = 3;
  }
  refused(all[0], "refused", "only on Sundays");
  refused(all[0], "failed", "on Mondays").refused = false;
  for (const char* name : {"basic", "tiled-in", "tiled-out", "cached"})
    timed(all[0], name, 50).times->best = 50 / 7.0;
  const auto lines = lines_of(all);
  const auto shows = [&](const std::string& name) {
    return std::ranges::any_of(lines, [&](const std::string& line) {
      return line.starts_with("  " + name + " ") && line.find("cuda:0") != line.npos;
    });
  };
  for (const char* name : {"k1", "k2", "k13", "basic", "tiled-in", "tiled-out", "cached", "failed"})
    CHECK_MESSAGE(shows(name), name);
  for (const char* name : {"k0", "k3", "k12", "refused"}) CHECK_MESSAGE(!shows(name), name);
  CHECK(count_of(lines, "  12 more, slower, just counted or refused here, are in --table full") ==
        1);
  all[0].rows.resize(12);
  CHECK(std::ranges::count_if(
            lines_of(all), [](const std::string& line) { return line.starts_with("  k"); }) == 12);
}

}  // namespace convfilt::test
