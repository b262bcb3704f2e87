/// What a block of scatter and of the spatial domain does to memory, and what unrolled reads of a
/// picture: formulas against the emulator's count, in all settings, and both against numbers worked
/// out by hand.
#include <doctest/doctest.h>

#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "src/lab/explain/count_reads.hpp"
#include "src/lab/explain/explain.hpp"
#include "src/lab/explain/text.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

using Settings = std::initializer_list<std::pair<Setting, int>>;

struct Case {
  const char* name;
  Settings settings;
};

constexpr std::pair<Setting, int> kInSpace{Setting::domain, kSpatial};
constexpr bool kPadded[] = {true, false};

Tuning tuned(const Case& c) {
  Tuning tuning;
  for (const auto& [setting, value] : c.settings) tuning[setting] = value;
  return tuning;
}

Problem problem_of(const Mask& mask, Depth depth = Depth::u8) {
  return {200, 120, 1, depth, Border::replicate, 0, mask};
}

/// The counts of a block, which formula and emulator must both have; nothing where there is no
/// block in the middle.
std::optional<Counts> agreed_if_any(const Case& c, const Problem& problem, bool padded) {
  INFO(std::string(c.name) << " " << to_string(tuned(c)) << ", " << to_string(problem)
                           << (padded ? ", padded" : ", packed"));
  const auto block = watch_middle_block(*find_strategy(c.name), problem, tuned(c), padded);
  if (!block) return std::nullopt;
  for (const CountName& count : watched_counts()) {
    INFO(std::string(count.name));
    CHECK(count.of(block->formula) == count.of(block->count));
  }
  return block->count;
}

Counts agreed(const Case& c, const Problem& problem, bool padded = true) {
  INFO(std::string(c.name) << " " << to_string(tuned(c)) << ", " << to_string(problem));
  const auto counts = agreed_if_any(c, problem, padded);
  REQUIRE(counts);
  return *counts;
}

/// The value of a formula such as "(L + w - 1) / L, L = 32", in which w and h are the mask's sides.
class FormulaText {
 public:
  FormulaText(const std::string& text, const Mask& mask) : text_(text.substr(0, text.find(", "))) {
    names_["w"] = mask.width;
    names_["h"] = mask.height;
    for (std::size_t at = text.find(", "); at != text.npos; at = text.find(", ", at + 1)) {
      const std::size_t equals = text.find(" = ", at);
      REQUIRE(equals != text.npos);
      names_[text.substr(at + 2, equals - at - 2)] = std::stod(text.substr(equals + 3));
    }
  }

  double value() {
    at_ = 0;
    const double value = sum();
    INFO(text_);
    CHECK(at_ == text_.size());
    return value;
  }

 private:
  bool takes(const std::string& token) {
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  double sum() {
    double value = product();
    for (;;) {
      if (takes(" + "))
        value += product();
      else if (takes(" - "))
        value -= product();
      else
        return value;
    }
  }
  double product() {
    double value = power();
    for (;;) {
      if (takes(" * "))
        value *= power();
      else if (takes(" / "))
        value /= power();
      else
        return value;
    }
  }
  double power() {
    const double value = factor();
    return takes("^2") ? value * value : value;
  }
  double factor() {
    if (takes("ceil(")) return std::ceil(closed());
    if (takes("(")) return closed();
    std::size_t end = at_;
    while (end < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end]))) ++end;
    const std::string word = text_.substr(at_, end - at_);
    at_ = end;
    INFO(text_ << ": " << word);
    REQUIRE(!word.empty());
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return std::stod(word);
    REQUIRE(names_.count(word) == 1);
    return names_[word];
  }
  double closed() {
    const double value = sum();
    CHECK(takes(")"));
    return value;
  }

  std::string text_;
  std::map<std::string, double> names_;
  std::size_t at_ = 0;
};

}  // namespace

TEST_CASE("the text of a spatial block's formula has the number that stands beside it") {
  const std::pair<int, int> pictures[] = {{200, 120}, {160, 1}, {1, 160}, {20, 120}, {19, 7}};
  const Case cases[] = {
      {"overlap-save", {kInSpace}},
      {"overlap-save", {kInSpace, {Setting::block, 40}}},
      {"overlap-add", {kInSpace}},
      {"in-parts", {kInSpace}},
      {"in-parts", {kInSpace, {Setting::part, 4}}},
      {"in-parts", {kInSpace, {Setting::block, 12}, {Setting::part, 3}}},
      {"in-parts", {kInSpace, {Setting::block, 8}}},
  };
  int formulas = 0;
  for (const Case& c : cases) {
    for (const auto& [width, height] : pictures) {
      for (const auto& [w, h] :
           {std::pair{5, 5}, {5, 1}, {1, 5}, {9, 9}, {9, 2}, {40, 5}, {70, 33}}) {
        Problem p = problem_of(box_mask(w, h));
        p.width = width;
        p.height = height;
        const Strategy& strategy = *find_strategy(c.name);
        if (!strategy.refusal(p, tuned(c)).empty()) continue;
        const Geometry g = strategy.geometry(p, tuned(c));
        INFO(std::string(c.name) << " " << to_string(tuned(c)) << ", " << to_string(p) << ": "
                                 << g.loads_per_output);
        REQUIRE(!g.loads_per_output.empty());
        CHECK(FormulaText(g.loads_per_output, p.mask).value() ==
              doctest::Approx(g.loads / (double(g.step_x()) * g.step_y())));
        ++formulas;
      }
    }
  }
  CHECK(formulas > 200);
  const auto text = [](const Case& c, const Mask& mask, int width, int height) {
    Problem p = problem_of(mask);
    p.width = width;
    p.height = height;
    return find_strategy(c.name)->geometry(p, tuned(c)).loads_per_output;
  };
  const Case save{"overlap-save", {kInSpace}}, parts{"in-parts", {kInSpace, {Setting::part, 4}}};
  CHECK(text(save, box_mask(5, 5), 200, 120) == "(L + w - 1) * (L + h - 1) / L^2, L = 32");
  CHECK(text(save, box_mask(5, 1), 160, 1) == "(L + w - 1) / L, L = 32");
  CHECK(text(save, box_mask(5, 5), 160, 1) ==
        "(Lx + w - 1) * (Ly + h - 1) / (Lx * Ly), Lx = 32, Ly = 1");
  CHECK(text(parts, box_mask(9, 9), 200, 120) == "ceil(w / 4) * ceil(h / 4)");
}

TEST_CASE("a picture of one row or column has a block in its middle, whose memory is told") {
  if (emulator_missing()) return;
  const auto thin = [](const Mask& mask, int width, int height) {
    Problem p = problem_of(mask);
    p.width = width;
    p.height = height;
    return p;
  };
  const Counts save = agreed({"overlap-save", {kInSpace}}, thin(box_mask(5, 1), 160, 1));
  CHECK(save.global_reads == 36);
  CHECK(save.shared_writes == 36);
  CHECK(save.shared_reads == 32 * 5);
  CHECK(save.global_writes == 32);
  const Counts add = agreed({"overlap-add", {kInSpace}}, thin(box_mask(5, 1), 160, 1));
  CHECK(add.global_reads == 32);
  CHECK(add.sum_adds == 36);
  CHECK(agreed({"overlap-save", {kInSpace}}, thin(box_mask(1, 5), 1, 160)).global_reads == 36);
  CHECK(agreed({"overlap-add", {kInSpace}}, thin(box_mask(1, 5), 1, 160)).sum_adds == 36);
  for (const auto& [name, w, h] : {std::tuple{"overlap-save", 5, 1},
                                   {"overlap-save", 1, 5},
                                   {"overlap-add", 5, 1},
                                   {"overlap-add", 1, 5},
                                   {"in-parts", 5, 1},
                                   {"in-parts", 1, 5}})
    for (const auto& [number, rows, padded, block] :
         combinations(std::array{1, 2, 3, 7}, kPadded, std::array{0, 20}))
      agreed({name, {kInSpace, {Setting::block, block}}},
             h == 1 ? thin(box_mask(w, h), 160, rows) : thin(box_mask(w, h), rows, 160), padded);
}

TEST_CASE("masks in parts: the memory of an interval in the middle, with all its pairs") {
  if (emulator_missing()) return;
  const Case parts{"in-parts", {kInSpace, {Setting::part, 4}}};
  // Nine weights are parts of 4, 4 and 1. The first and the last one meet in an interval, with two
  // blocks of 8 samples, which have 8 + 3 and 8 outputs.
  const Counts c = agreed(parts, problem_of(box_mask(9, 9)));
  CHECK(c.global_reads == (2 * 8) * (2 * 8));
  CHECK(c.sum_adds == (11 + 8) * (11 + 8));
  // Rows without samples have no cells.
  CHECK(c.shared_reads == (11 * 4 + 8) * (8 * 4 + 8));
  const std::string text = to_text(explain(*find_strategy("in-parts"), problem_of(box_mask(9, 9)),
                                           tuned(parts), find_architecture("sm_90")));
  CHECK(text.find("Memory of that block, and its warps") != text.npos);
  CHECK(text.find("DIFFER") == text.npos);
  constexpr std::pair<int, int> kSides[] = {{9, 9}, {10, 7}, {11, 1}, {1, 11}, {40, 5}, {70, 3}};
  const std::pair<Setting, int> atomic{Setting::accumulate, kAtomic};
  for (const Case& case_ : {Case{"in-parts", {kInSpace, {Setting::part, 4}}},
                            {"in-parts", {kInSpace, {Setting::part, 3}, {Setting::block, 12}}},
                            {"in-parts", {kInSpace, {Setting::part, 4}, atomic}},
                            {"in-parts", {kInSpace, {Setting::part, 4}, {Setting::steps, 3}}},
                            {"overlap-add", {kInSpace}},
                            {"overlap-add", {kInSpace, atomic}}})
    for (const auto& [number, sides, width, mode, padded] :
         combinations(kSides, numbers(200, full_size() ? 239 : 207), kModes, kPadded)) {
      const auto [w, h] = sides;
      Problem p = problem_of(anchored(box_mask(w, h), w - 1, 0));
      p.width = width;
      p.mode = mode;
      if (mode == Mode::full) p.border = Border::constant;
      if (!find_strategy(case_.name)->refusal(p, tuned(case_)).empty()) continue;
      // There a mask that constant memory does not hold has no formula.
      if (case_.name == std::string_view("in-parts") && w > 31) continue;
      agreed(case_, p, padded);
    }
}

// The block has the samples from column 94 on, and adds the first tap of each to output 96.
TEST_CASE("scatter: a warp reads 32 samples once, and adds them 25 times to sums of 4 bytes") {
  if (emulator_missing()) return;
  const Counts c = agreed({"scatter", {}}, problem_of(box_mask(5, 5)));
  CHECK(c.global_reads == 256);
  CHECK(c.global_writes == 0);
  CHECK(c.atomic_adds == 256 * 25);
  CHECK(c.mask_reads == 256 * 25);
  CHECK(c.warps.warps == 8);
  CHECK(c.warps.divergent_warps == 0);
  // 32 sums begin at a sector for one tap of five.
  CHECK(c.warps.sectors == 8 * 2 + 8 * 5 * (4 + 4 * 5));
  CHECK(c.warps.fewest_sectors == 8 * 1 + 8 * 25 * 4);
  CHECK(c.warps.bursts == 8 * 1 + 8 * 5 * (2 + 4 * 3));
}

// Samples begin at column 94, outputs at 96. A row of 36 samples is 32 and 4 more.
TEST_CASE("spatial overlap-save does to memory what tiled-out does with eight rows of threads") {
  if (emulator_missing()) return;
  const Counts c = agreed({"overlap-save", {kInSpace}}, problem_of(box_mask(5, 5)));
  CHECK(c.global_reads == 36 * 36);
  CHECK(c.shared_writes == 36 * 36);
  CHECK(c.shared_reads == 32 * 32 * 25);
  CHECK(c.mask_reads == 32 * 32 * 25);
  CHECK(c.global_writes == 32 * 32);
  CHECK(c.warps.warps == 8);
  CHECK(c.warps.divergent_warps == 8);
  CHECK(c.warps.sectors == 36 * (2 + 2) + 32);
  CHECK(c.warps.fewest_sectors == 36 * 2 + 32);
  CHECK(c.warps.bursts == 36 * (1 + 2) + 32);
  CHECK(c.warps.bank_conflicts == 0);
}

// Samples begin at column 190, outputs at 188. A row of 40 cells has four zeros at both ends.
TEST_CASE("spatial overlap-add reads each sample once, and each of 36 x 36 sums") {
  if (emulator_missing()) return;
  const Counts c = agreed({"overlap-add", {kInSpace}}, problem_of(box_mask(5, 5)));
  CHECK(c.global_reads == 32 * 32);
  CHECK(c.shared_writes == 40 * 32);
  CHECK(c.sum_adds == 36 * 36);
  CHECK(c.atomic_adds == 0);
  // A row of samples meets five rows of weights, under 36 columns of outputs.
  CHECK(c.mask_reads == 32 * 5 * 36 * 5);
  CHECK(c.shared_reads == c.mask_reads);
  CHECK(c.warps.divergent_warps == 8);
  CHECK(c.warps.sectors == 32 * (2 + 1) + 2 * 36 * (5 + 1));
  CHECK(c.warps.fewest_sectors == 32 * (1 + 1) + 2 * 36 * (4 + 1));
  CHECK(c.warps.bursts == 32 * (2 + 1) + 2 * 36 * (3 + 1));
  const Counts atomic = agreed({"overlap-add", {kInSpace, {Setting::accumulate, kAtomic}}},
                               problem_of(box_mask(5, 5)));
  CHECK(atomic.atomic_adds == 36 * 36);
  CHECK(atomic.sum_adds == 0);
  // In divisions, a block adds to a private buffer what it adds to one plane in steps.
  const Counts divided =
      agreed({"overlap-add", {kInSpace, {Setting::block, 8}, {Setting::accumulate, kInDivisions}}},
             problem_of(box_mask(5, 1)));
  CHECK(divided.sum_adds == 8 * 12);
}

TEST_CASE("rows of 40 outputs take a warp two sweeps, and its lanes meet again at the next row") {
  if (emulator_missing()) return;
  const Counts c =
      agreed({"overlap-save", {kInSpace, {Setting::block, 44}}}, problem_of(box_mask(5, 5)));
  // 44 samples are 32 and 12, 40 outputs 32 and 8. Samples begin at column 118, outputs at 120.
  CHECK(c.warps.sectors == 44 * (2 + 1) + 40 * (2 + 1));
}

TEST_CASE("formula and count agree: settings, masks, depths, borders, modes, pitches") {
  if (emulator_missing()) return;
  const std::pair<Setting, int> atomic{Setting::accumulate, kAtomic},
      divisions{Setting::accumulate, kInDivisions};
  const Case cases[] = {
      {"scatter", {}},
      {"overlap-save", {kInSpace}},
      {"overlap-save", {kInSpace, {Setting::block, 20}}},
      {"overlap-save", {kInSpace, {Setting::block, 75}}},
      {"overlap-save", {kInSpace, {Setting::block, 100}}},
      {"overlap-add", {kInSpace}},
      {"overlap-add", {kInSpace, {Setting::block, 7}, {Setting::steps, 3}}},
      {"overlap-add", {kInSpace, {Setting::block, 8}, {Setting::steps, 8}}},
      {"overlap-add", {kInSpace, {Setting::block, 40}}},
      {"overlap-add", {kInSpace, {Setting::block, 16}, atomic}},
      {"overlap-add", {kInSpace, {Setting::block, 8}, divisions}},
      {"in-parts", {kInSpace}},
      {"in-parts", {kInSpace, {Setting::block, 21}}},
      {"in-parts", {kInSpace, {Setting::block, 16}, atomic}},
      {"in-parts", {kInSpace, {Setting::block, 8}, divisions}},
  };
  int blocks = 0;
  constexpr std::pair<int, int> kSides[] = {{1, 1}, {5, 5}, {4, 7}, {9, 1}, {1, 6}, {15, 15}};
  for (const Case& c : cases) {
    int of_case = 0;
    for (const auto& [number, sides, depth, mode, padded] : combinations_where(
             [](auto sides, Depth depth, Mode mode, bool) {
               return depth == Depth::u8 || (mode == Mode::same && sides.first < 15);
             },
             kSides, kDepths, kModes, kPadded)) {
      const auto [w, h] = sides;
      Problem p = problem_of(box_mask(w, h), depth);
      if (w == 4) p.mask = anchored(p.mask, 0, h - 1);
      p.mode = mode;
      p.border = mode == Mode::full ? Border::constant : Border::reflect101;
      const Strategy& strategy = *find_strategy(c.name);
      if (!strategy.refusal(p, tuned(c)).empty()) continue;
      // Some blocks are parts of a mask, or as large as the picture.
      const auto counts = agreed_if_any(c, p, padded);
      if (!counts) continue;
      const Geometry g = strategy.geometry(p, tuned(c));
      CHECK(double(counts->global_reads) == g.loads);
      CHECK(double(counts->atomic_adds) == g.adds);
      CHECK(2 * double(counts->sum_adds) == g.sum_accesses);
      ++of_case;
    }
    INFO(std::string(c.name) << " " << to_string(tuned(c)));
    CHECK(of_case > 0);
    blocks += of_case;
  }
  CHECK(blocks > 150);
}

TEST_CASE("unrolled: what a whole picture reads, in loads and at its edges by taps") {
  if (emulator_missing()) return;
  constexpr std::pair<int, int> kSides[] = {{1, 1}, {3, 3}, {5, 5},  {4, 7},
                                            {9, 1}, {1, 9}, {15, 15}},
                                kSizes[] = {{200, 40}, {131, 17}, {18, 16}, {16, 1}};
  for (const auto& [number, sides, size, border, mode] :
       combinations(kSides, kSizes, std::array{Border::constant, Border::reflect101}, kModes)) {
    const auto [w, h] = sides;
    Problem p{size.first, size.second, 1, Depth::u8, border, 7, box_mask(w, h)};
    if (w == 4) p.mask = anchored(p.mask, 0, h - 1);
    p.mode = mode;
    const Strategy& strategy = *find_strategy("unrolled");
    if (!strategy.refusal(p).empty()) continue;
    INFO(to_string(p));
    const Explanation e = explain(strategy, p, {}, find_architecture("sm_90"));
    REQUIRE(e.ghosts_out.formula);
    REQUIRE(e.with_border.formula);
    CHECK(*e.ghosts_out.formula == *e.ghosts_out.count);
    CHECK(*e.with_border.formula == *e.with_border.count);
  }
}

TEST_CASE(
    "there is no formula where a library sums, or where launches take divisions or pieces of a "
    "mask") {
  if (emulator_missing()) return;
  const auto watched = [](const Case& c, const Mask& mask) {
    return watch_middle_block(*find_strategy(c.name), problem_of(mask), tuned(c), true).has_value();
  };
  for (const char* name : {"overlap-save", "overlap-add", "in-parts"}) {
    CHECK(!watched({name, {}}, box_mask(5, 5)));
    CHECK(watched({name, {kInSpace}}, box_mask(31, 5)));
  }
  CHECK(!watched({"overlap-save", {kInSpace}}, box_mask(33, 5)));
  const std::pair<Setting, int> block{Setting::block, 8}, part{Setting::part, 4};
  CHECK(watched({"in-parts", {kInSpace, block, part}}, box_mask(8, 8)));
  CHECK(!watched({"in-parts", {kInSpace, block, part, {Setting::accumulate, kInSteps}}},
                 box_mask(8, 8)));
  CHECK(!watched({"in-parts", {kInSpace}}, box_mask(33, 5)));
}

TEST_CASE("explain shows additions to sums, beside their formula") {
  if (emulator_missing()) return;
  const Case c{"overlap-add", {kInSpace}};
  const Explanation e = explain(*find_strategy(c.name), problem_of(box_mask(5, 5)), tuned(c),
                                find_architecture("sm_90"));
  CHECK(
      to_text(e).find("additions          1296 / 1024 = 1.2656 to sums, each a read and a write   "
                      "formula and count agree") != std::string::npos);
  CHECK(e.differences().empty());
}

}  // namespace convfilt::test
