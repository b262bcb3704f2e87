#include "tests/support/refusals.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <map>

#include "tests/support/contract.hpp"
#include "tests/support/masks/mask_facts.hpp"

namespace convfilt::test {
namespace {

const Expected kTakes{};

Expected refuses(std::string why) {
  return {Answer::refuses, std::move(why)};
}
Expected either(std::string why) {
  return {Answer::either, std::move(why)};
}

/// Both limits hold: the one that refuses decides.
Expected both(const Expected& one, const Expected& other) {
  if (one.answer == Answer::refuses || other.answer == Answer::takes) return one;
  if (other.answer == Answer::refuses || one.answer == Answer::takes) return other;
  return one;
}

bool all_zero(const Mask& mask) {
  return std::ranges::all_of(mask.weights, [](double w) { return w == 0; });
}

Expected by_mode(const Problem& p) {
  const bool fits = p.mask.width <= p.width && p.mask.height <= p.height;
  return p.mode == Mode::valid && !fits ? refuses("the mask lies nowhere inside the picture")
                                        : kTakes;
}

bool is_float(double value) {
  return std::abs(value) <= double(std::numeric_limits<float>::max());
}

/// Weights, scale and offset must be in the range of floats; integers up to 2^24 keep their divisor
/// to the end.
Expected by_single_precision(const Mask& mask) {
  const bool integers = integer_weights(mask) && std::ranges::all_of(mask.weights, [](double w) {
                          return std::abs(w) <= (1 << 24);
                        });
  const bool fits = std::ranges::all_of(
      mask.weights, [&](double w) { return is_float(integers ? w : w / mask.divisor); });
  const bool end_fits = is_float(mask.offset) && (!integers || is_float(1 / mask.divisor));
  return fits && end_fits ? kTakes : refuses("it leaves the range of single precision");
}

/// The limits of the families whose sums go through all weights.
Expected by_sums(const Problem& p) {
  constexpr double kDocumented = 4e6;
  if (p.depth != Depth::u8) return by_single_precision(p.mask);
  if (exact_in_one_pass(p.mask)) return kTakes;
  const double sum = magnitude_of(p.mask);
  if (255 * sum >= kSumLimit) return refuses("8-bit sums would reach 2^30");
  return sum <= kDocumented ? kTakes : either("the sum of |weights| is above 4 million");
}

Expected by_transform(const Problem& p) {
  constexpr double kLargestSum = 1 << 20;
  const Expected floats = by_single_precision(p.mask);
  if (floats.answer != Answer::takes || p.depth == Depth::f32) return floats;
  const double largest = magnitude_of(p.mask) * full_range(p.depth) + std::abs(p.mask.offset);
  return largest > kLargestSum ? refuses("single precision would lose whole steps") : kTakes;
}

/// 8-bit results are whole steps, however small the gain.
double rank_share_of(const Problem& p) {
  const double sum = magnitude_of(p.mask);
  return rank_share(p.depth) / (p.depth == Depth::u8 ? std::min(1.0, sum) : 1);
}

/// Whether `terms` products leave no more than the share that they may; near it, roundings decide.
Answer adds_up(const Products& products, std::size_t terms, double share) {
  if (products.left.size() <= terms) return Answer::takes;  // nothing was left before
  const double left = products.left[terms];
  return left <= 0.99 * share  ? Answer::takes
         : left < 1.01 * share ? Answer::either
                               : Answer::refuses;
}

/// The fewest terms up to three that add up to the mask; 4 where there are none. The answer is
/// `either` where one more or one less could be right.
struct Rank {
  int terms = 4;
  Answer answer = Answer::refuses;
};
Rank rank_of(const Products& products, double share) {
  for (int terms = 1; terms <= 3; ++terms) {
    const Answer answer = adds_up(products, std::size_t(terms), share);
    if (answer != Answer::refuses) return {terms, answer};
  }
  return {};
}

/// Two passes: rank 1 to 3, and products that do not cancel by more than half.
Expected by_rank(const Problem& p) {
  constexpr double kMostCancelled = 2;
  const Mask& mask = p.mask;
  if (all_zero(mask)) return refuses("a mask of zeros has no row and column");
  if (!integer_lines(mask).row.empty()) return kTakes;
  const Products through_largest = products_through(mask, largest_weight(mask));
  const Rank rank = rank_of(through_largest, rank_share_of(p));
  if (rank.terms > 3) return refuses("the rank is above 3");
  if (rank.answer == Answer::either) return either("the rank is 3 but for roundings");
  // As many products as lines are the lines themselves, which cancel nothing.
  if (rank.terms == 1 || rank.terms == std::min(mask.width, mask.height)) return kTakes;
  // Products through the second largest weight may be taken instead, if they have fewer taps.
  const Products beside = products_through(mask, largest_beside(mask));
  double least = 1e300, most = 0;
  for (const Products& products : {through_largest, beside}) {
    if (products.sums.size() <= std::size_t(rank.terms)) continue;
    least = std::min(least, products.sums[std::size_t(rank.terms)]);
    most = std::max(most, products.sums[std::size_t(rank.terms)]);
  }
  if (least > 1.01 * kMostCancelled) return refuses("the products cancel by more than half");
  return most > 0.99 * kMostCancelled ? either("some products cancel by more than half") : kTakes;
}

/// 8-bit pictures have 16 bits between the passes: at most 8 of a fraction, so half of 2^-8 of a
/// step times the gain is lost there, and half a step is the most.
Expected by_two_passes(const Problem& p) {
  Expected expected = both(by_sums(p), by_rank(p));
  if (p.depth != Depth::u8 || expected.answer != Answer::takes || exact_in_two_passes(p.mask))
    return expected;
  const double sum = magnitude_of(p.mask);
  if (sum > 256) return refuses("the gain is too large for 16 bits between the passes");
  return sum > 8 ? either("the gain may be too large for 16 bits between the passes") : kTakes;
}

/// Registers hold a lane's taps: with one term 129 down, with two 65, with three 33. Across they
/// hold up to three fewer, which depends on the mask's alignment.
Expected by_registers(const Problem& p) {
  constexpr int kTaps[] = {129, 65, 33};
  const Mask& mask = p.mask;
  const bool integers = !integer_lines(mask).row.empty();
  const int terms =
      integers ? 1 : rank_of(products_through(mask, largest_weight(mask)), rank_share_of(p)).terms;
  if (terms > 3) return kTakes;  // by_rank() judges the rank
  const int taps = kTaps[terms - 1];
  if (mask.height > taps || mask.width > taps) return refuses("registers hold fewer taps");
  return mask.width > taps - 3 ? either("alignment decides") : kTakes;
}

Expected by_bytes(const Problem& p) {
  return p.depth == Depth::u8 ? kTakes : refuses("tensor cores multiply bytes");
}

/// A sum of quadratic B-splines on every d-th sample, where d is a multiple of 4, has third
/// differences only at every d-th place. So no such sum can follow a line's others. To change one
/// weight by 1 changes the third differences by 8 in all, which is why their sum is divided by 8.
double rough_share(const std::vector<double>& line) {
  constexpr int kGrid = 4;
  double sum = 0, by_place[kGrid] = {};
  const auto at = [&](std::ptrdiff_t k) {
    return k < 0 || k >= std::ptrdiff_t(line.size()) ? 0 : line[std::size_t(k)];
  };
  for (std::ptrdiff_t k = 0; k < std::ptrdiff_t(line.size()) + 3; ++k) {
    const double difference = std::abs(at(k) - 3 * at(k - 1) + 3 * at(k - 2) - at(k - 3));
    sum += difference;
    by_place[k % kGrid] += difference;
  }
  double magnitudes = 0;
  for (const double w : line) magnitudes += std::abs(w);
  return (sum - *std::ranges::min_element(by_place)) / 8 / magnitudes;
}

/// Smooth masks of rank 1. What is lost is the product of what both lines lose, in half the range.
Expected by_smoothness(const Problem& p) {
  const Mask& mask = p.mask;
  if (all_zero(mask)) return refuses("a mask of zeros has no row and column");
  const std::size_t pivot = largest_weight(mask);
  if (integer_lines(mask).row.empty()) {
    const Answer rank = adds_up(products_through(mask, pivot), 1, rank_share(p.depth));
    if (rank != Answer::takes) return {rank, "the rank is not 1"};
  }
  std::vector<double> row, column;
  for (int i = 0; i < mask.width; ++i) row.push_back(mask.weight(i, int(pivot) / mask.width));
  for (int j = 0; j < mask.height; ++j) column.push_back(mask.weight(int(pivot) % mask.width, j));
  const double rough = rough_share(row) * rough_share(column);
  const double range = p.depth == Depth::f32 ? 1 : full_range(p.depth) / 2 * magnitude_of(mask);
  const double limit = p.depth == Depth::u8 ? 0.1 : p.depth == Depth::u16 ? 0.49 : 0.99e-5;
  if (rough * range > limit) return refuses("the mask is not smooth enough for a coarse grid");
  // Gaussians of a hundred taps, cut at three sigma: the least that is documented.
  const bool documented = mask.name.starts_with("gaussian") && magnitude_of(mask) < 1.1 &&
                          std::min(mask.width, mask.height) >= 97;
  return documented ? kTakes : either("a search decides how coarse the grid may be");
}

/// The largest side of the parts that a mask above 31x31 is cut into, in equal shares.
int largest_part_of(int side) {
  const int parts = (side + 30) / 31;
  return (side + parts - 1) / parts;
}

/// Steps must keep apart the blocks whose outputs overlap by the mask.
Expected by_steps(const Problem& p, const Tuning& tuning) {
  const int steps = tuning[Setting::steps], block = tuning[Setting::block];
  const int accumulate = tuning[Setting::accumulate];
  if (accumulate == kAtomic) return steps ? refuses("atomic additions have no steps") : kTakes;
  if (block == 0) return steps == 1 ? either("one step") : kTakes;
  // The spatial domain takes a mask of more than 31 weights part by part; divisions meet by all.
  const int largest =
      tuning[Setting::domain] == kSpatial && accumulate != kInDivisions ? 31 : INT_MAX;
  const auto meet = [&](int side, int outputs) {
    return std::min(block, outputs + side - 1) * ((steps ? steps : 2) - 1) <
           std::min(side, largest) - 1;
  };
  return meet(p.mask.width, p.out_width()) || meet(p.mask.height, p.out_height())
             ? refuses("blocks of one step meet")
             : kTakes;
}

Expected by_family(const Problem& p, Family family) {
  switch (family) {
    case Family::direct:
    case Family::reordered: return by_sums(p);
    case Family::separable: return by_two_passes(p);
    case Family::transform: break;
  }
  return by_transform(p);
}

int side_of(const Problem& p) {
  return std::max(p.mask.width, p.mask.height);
}

Expected by_threads(const Problem& p, const Runner& runner) {
  const TileSides tile = TileSides::of(runner.tuning[Setting::tile]);
  const int rows = p.mask.height == 1 ? 1 : tile.rows + largest_part_of(p.mask.height) - 1;
  if (tile.columns > 0 && (tile.columns + largest_part_of(p.mask.width) - 1) * rows > 1024)
    return refuses("a block has a thread for each sample of the input tile");
  return kTakes;
}

Expected by_winograd(const Problem& p, const Runner& runner) {
  if (side_of(p) > 3) return refuses("Winograd's tiles are made for 3x3");
  if (runner.tuning[Setting::tile] == 4 && p.depth != Depth::f32 &&
      magnitude_of(p.mask) * full_range(p.depth) > (1 << 17))
    return refuses("tiles of 4 lose a third of a step");
  return kTakes;
}

Expected by_patches(const Problem& p, const Runner&) {
  if (p.mask.width * p.mask.height > 128 * 128)
    return refuses("so many single-precision sums lose the bound");
  return kTakes;
}

Expected by_block(const Problem& p, const Runner& runner) {
  const int block = runner.tuning[Setting::block];
  return block > 0 && block < side_of(p) ? refuses("the block does not hold the mask") : kTakes;
}

using Limits = std::map<std::string_view, Expected (*)(const Problem&, const Runner&)>;

Limits& own_limits() {
  static Limits limits = {
      {"tiled-in", by_threads},
      {"winograd", by_winograd},
      {"im2col", by_patches},
      {"overlap-save", by_block},
      {"overlap-add",
       [](const Problem& p, const Runner& runner) { return by_steps(p, runner.tuning); }},
      {"coarse", [](const Problem& p, const Runner&) { return by_smoothness(p); }},
      {"tensor", [](const Problem& p, const Runner&) { return by_bytes(p); }},
      {"separable-tensor",
       [](const Problem& p, const Runner&) { return both(by_bytes(p), by_registers(p)); }}};
  return limits;
}

Expected by_strategy(const Problem& p, const Runner& runner) {
  const auto own = own_limits().find(runner.strategy->name);
  return own == own_limits().end() ? kTakes : own->second(p, runner);
}

}  // namespace

OwnLimit::OwnLimit(std::string_view strategy, Expected (*expected)(const Problem&, const Runner&)) {
  own_limits().emplace(strategy, expected);
}

Expected expected_answer(const Problem& problem, const Runner& runner) {
  if (const Expected mode = by_mode(problem); mode.answer == Answer::refuses) return mode;
  return both(by_family(problem, runner.family()), by_strategy(problem, runner));
}

std::string wrong_answer(const Problem& problem, const Runner& runner, const std::string& refusal) {
  const Expected expected = expected_answer(problem, runner);
  if (expected.answer == Answer::takes && !refusal.empty())
    return "refuses what it must do: " + refusal;
  if (expected.answer == Answer::refuses && refusal.empty())
    return "does not refuse what it cannot do: " + expected.why;
  return "";
}

}  // namespace convfilt::test
