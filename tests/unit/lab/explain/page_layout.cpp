/// Where words of a drawing's page stand: on the page, not over each other, and under no outline.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "src/lab/explain/panel.hpp"
#include "src/lab/explain/tile_picture.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

/// A label, or an outline with its colour, in points of the page.
struct Drawn {
  Box box;
  std::string text;
};
struct Page {
  std::vector<Drawn> words, outlines;
};

/// Letters of DejaVu Sans at the page's size, seen in drawings: an average one, and its height.
constexpr double kLetter = 6, kBoldLetter = 6.8, kHeight = 10;

std::size_t letters_of(const std::string& text) {
  return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

Page page_of_script(const Drawing& picture) {
  const std::regex label(R"(set label '(.*)' at ([-\d.e+]+),([-\d.e+]+) (\w+) front(.*))"),
      sized(R"(%.1f', ([\d.]+) \* letter)"),
      outline(
          R"(set object rectangle from ([-\d.e+]+),([-\d.e+]+) to ([-\d.e+]+),([-\d.e+]+) front )"
          R"(fillstyle empty border rgb '(#\w+)'.*)"),
      margin(R"(set ([lrtb])margin at screen ([-\d.e+]+))"),
      range(R"(set ([xy])range \[([-\d.e+]+):([-\d.e+]+)\])");
  Page page;
  std::vector<std::smatch> labels, outlines;
  std::vector<std::string> lines;
  std::map<char, double> at;
  std::istringstream script(picture.script);
  for (std::string line; std::getline(script, line);) lines.push_back(line);
  double left = 0, right = 0, top = 0, bottom = 0;
  for (const std::string& line : lines) {
    std::smatch match;
    if (line == "unset object") {
      labels.clear();
      outlines.clear();
    } else if (std::regex_match(line, match, label)) {
      labels.push_back(match);
    } else if (std::regex_match(line, match, outline)) {
      outlines.push_back(match);
    } else if (std::regex_match(line, match, margin)) {
      at[match[1].str()[0]] = std::stod(match[2]);
    } else if (std::regex_match(line, match, range)) {
      const double from = std::stod(match[2]), to = std::stod(match[3]);
      (match[1] == "x" ? left : bottom) = from;
      (match[1] == "x" ? right : top) = to;
      if (match[1] == "x") continue;
      const auto x_of = [&](const std::string& x) {
        return (at['l'] + (std::stod(x) - left) / (right - left) * (at['r'] - at['l'])) *
               picture.size.width;
      };
      const auto y_of = [&](const std::string& y) {
        return (1 - at['t'] + (std::stod(y) - top) / (bottom - top) * (at['t'] - at['b'])) *
               picture.size.height;
      };
      for (const std::smatch& each : outlines)
        page.outlines.push_back(
            {{x_of(each[1]), y_of(each[2]), x_of(each[3]), y_of(each[4])}, each[5]});
      for (const std::smatch& each : labels) {
        const std::string font = each[5], text = each[1];
        std::smatch letters;
        const double size = std::regex_search(font, letters, sized) ? std::stod(letters[1]) : 1;
        const double width = size * double(letters_of(text)) *
                             (font.find(":Bold") == font.npos ? kLetter : kBoldLetter);
        const double before = each[4] == "left" ? 0 : each[4] == "right" ? width : width / 2;
        const double x = x_of(each[2]) - before, y = y_of(each[3]) - size * kHeight / 2;
        page.words.push_back({{x, y, x + width, y + size * kHeight}, text});
      }
    }
  }
  return page;
}

bool meet(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/// Whether an edge of the outline goes through the box.
bool crosses(const Box& outline, const Box& box) {
  const bool inside = outline.left <= box.left && outline.right >= box.right &&
                      outline.top <= box.top && outline.bottom >= box.bottom;
  return meet(outline, box) && !inside;
}

Tuning tuned(std::initializer_list<std::pair<Setting, int>> settings) {
  Tuning tuning;
  for (const auto& [setting, value] : settings) tuning[setting] = value;
  return tuning;
}

Explanation explained(const char* name, const Mask& mask, const Tuning& tuning, int width = 200,
                      int height = 120, Mode mode = Mode::same) {
  Problem p;
  p.width = width;
  p.height = height;
  p.mask = mask;
  p.mode = mode;
  if (mode == Mode::full) p.border = Border::constant;
  return explain(*find_strategy(name), p, tuning, find_architecture("sm_90"));
}

/// How often the script outlines the box in the colour of a block of threads.
int blocks_at(const std::string& script, const std::string& box) {
  const std::string line = "rectangle from " + box + " front fillstyle empty border rgb '#d55e00'";
  int count = 0;
  for (std::size_t at = script.find(line); at != script.npos; at = script.find(line, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("words of a page stand on it, beside each other, for blocks in the middle and at edges") {
  if (emulator_missing()) return;
  struct Case {
    const char* name;
    Mask mask;
    Tuning tuning;
    int width = 200, height = 120;
  };
  const auto spatial = [](int block, int part) {
    return tuned({{Setting::domain, kSpatial}, {Setting::block, block}, {Setting::part, part}});
  };
  const auto parts = [](int block, int part) {
    return tuned({{Setting::block, block}, {Setting::part, part}});
  };
  std::vector<Case> cases = {{"tiled-in", box_mask(5, 5), {}},
                             {"tiled-in", box_mask(5, 5), tuned({{Setting::idle, kRim}})},
                             {"tiled-in", box_mask(5, 1), {}},
                             {"tiled-out", box_mask(5, 5), {}},
                             {"cached", box_mask(5, 5), {}},
                             {"basic", box_mask(5, 5), {}},
                             {"scatter", box_mask(5, 5), {}},
                             {"unrolled", box_mask(5, 5), {}},
                             {"overlap-save", box_mask(9, 9), {}},
                             {"overlap-save", box_mask(5, 5), spatial(12, 0)},
                             {"overlap-add", box_mask(9, 9), {}},
                             {"overlap-add", box_mask(5, 5), spatial(12, 0)},
                             {"in-parts", box_mask(8, 8), parts(8, 4)},
                             {"in-parts", box_mask(9, 9), parts(8, 4)},
                             {"in-parts", box_mask(9, 9), spatial(8, 4)},
                             {"in-parts", box_mask(36, 1), parts(12, 6), 60, 1},
                             {"in-parts", box_mask(36, 1), parts(12, 6), 60, 20}};
  for (const Case& c : cases)
    for (const Mode mode : {Mode::same, Mode::valid, Mode::full}) {
      const Explanation e = explained(c.name, c.mask, c.tuning, c.width, c.height, mode);
      const int right = e.asked.out_width() - 1, bottom = e.asked.out_height() - 1;
      std::vector<std::optional<OutputAt>> places = {std::nullopt, OutputAt{0, 0},
                                                     OutputAt{right, bottom}};
      if (mode == Mode::same)
        places.insert(places.end(), {OutputAt{right, 0}, OutputAt{9, bottom}});
      for (const std::optional<OutputAt>& at : places) {
        INFO(c.name << ", " << to_string(c.tuning) << ", " << to_string(e.asked) << " at "
                    << (at ? std::to_string(at->x) + "," + std::to_string(at->y) : "middle"));
        const Drawing picture = tile_picture(e, at);
        const Page page = page_of_script(picture);
        REQUIRE(page.words.size() > 5);
        for (std::size_t k = 0; k < page.words.size(); ++k) {
          const Drawn& words = page.words[k];
          INFO(words.text);
          CHECK(words.box.left >= 0);
          CHECK(words.box.right <= picture.size.width);
          CHECK(words.box.top >= 0);
          CHECK(words.box.bottom <= picture.size.height);
          for (std::size_t n = 0; n < k; ++n) {
            INFO(page.words[n].text);
            CHECK(!meet(words.box, page.words[n].box));
          }
          // Numbers stand in drawings.
          if (words.text.find_first_not_of("0123456789, ") == std::string::npos) continue;
          for (const Drawn& outline : page.outlines) {
            INFO(outline.text);
            // A block's letter stands in it, even where the image's edge goes through.
            if (letters_of(words.text) < 6 && outline.text == "#0072b2") continue;
            CHECK(!crosses(outline.box, words.box));
          }
        }
      }
    }
}

TEST_CASE("the block of threads lies over its outputs, whichever threads idle") {
  if (emulator_missing()) return;
  const auto script = [](const Mask& mask, TileSides tile, IdleThreads idle) {
    const Tuning tuning = tuned({{Setting::tile, tile.value()}, {Setting::idle, idle}});
    return tile_picture(explained("tiled-in", mask, tuning)).script;
  };
  // Loading, the block lies over the input tile. Computing, its first thread with an output does
  // over the output tile's first.
  for (const auto& [idle, again] : {std::pair{kLast, "0,0 to 12,12"}, {kRim, "-2,-2 to 10,10"}}) {
    const std::string square = script(box_mask(5, 5), {8, 8}, idle);
    CHECK(blocks_at(square, "-2,-2 to 10,10") == (idle == kRim ? 2 : 1));
    CHECK(blocks_at(square, again) == (idle == kRim ? 2 : 1));
    CHECK(square.find("'D, computing: 64 threads, 80 idle'") != square.npos);
  }
  const std::string last = script(box_mask(5, 3), {16, 8}, kLast);
  CHECK(blocks_at(last, "-2,-1 to 18,9") == 1);
  CHECK(blocks_at(last, "0,0 to 20,10") == 1);
  const std::string rim = script(box_mask(5, 3), {16, 8}, kRim);
  CHECK(blocks_at(rim, "-2,-1 to 18,9") == 2);
  // The idle rim: above, and left of the tile.
  CHECK(rim.find("rectangle from -2,-1 to 18,0 back fillcolor rgb '#909090'") != rim.npos);
  CHECK(rim.find("rectangle from -2,0 to 0,8 back fillcolor rgb '#909090'") != rim.npos);
}

TEST_CASE("divisions, intervals and parts have the numbers of the printed schedule") {
  if (emulator_missing()) return;
  const auto has = [](const std::string& script, const std::string& words) {
    INFO(words);
    CHECK(script.find("set label '" + words + "' at") != script.npos);
  };
  Problem p;
  const Tuning parts = tuned({{Setting::block, 12}, {Setting::part, 6}});
  const std::string line =
      tile_picture(explained("in-parts", box_mask(36, 1), parts, 60, 1, Mode::full)).script;
  // Division 0 has the intervals that begin at 0, 18, 36, 54 and 72.
  for (const char* words : {"C, division 0 of 3", "0", "18", "1", "2", "5"}) has(line, words);
  CHECK(line.find("set label '3'") != line.npos);  // a part, not a division
  const std::string square =
      tile_picture(
          explained("in-parts", box_mask(8, 8), tuned({{Setting::block, 8}, {Setting::part, 4}})))
          .script;
  for (const char* words : {"C, division 0,0 of 3 x 3", "0,0", "12,0", "0,12", "2,1", "1,1"})
    has(square, words);
  CHECK(square.find("set label '3,") == square.npos);
  // Pair (0, 0) lies 7 outputs before the picture's first, which lies 4 samples behind the block's.
  CHECK(square.find("rectangle from -3,-3 to 8,8 front") != square.npos);
}

}  // namespace convfilt::test
