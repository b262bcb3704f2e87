#include "tests/support/pairs.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <queue>
#include <string>
#include <string_view>

namespace convfilt::test {
namespace {

/// Numbers the pairs of levels of two axes, or the levels of a single axis.
class Pairs {
 public:
  explicit Pairs(const std::vector<Levels>& cases) : axes_(cases.empty() ? 0 : cases[0].size()) {
    counts_.resize(axes_);
    for (const Levels& levels : cases)
      for (std::size_t k = 0; k < axes_; ++k) counts_[k] = std::max(counts_[k], levels[k] + 1);
  }

  std::vector<std::size_t> of(const Levels& levels) const {
    if (axes_ == 1) return {std::size_t(levels[0])};
    std::vector<std::size_t> pairs;
    std::size_t first = 0;
    for (std::size_t a = 1; a < axes_; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        pairs.push_back(first + std::size_t(levels[a]) * counts_[b] + levels[b]);
        first += std::size_t(counts_[a]) * counts_[b];
      }
    }
    return pairs;
  }

  std::size_t count() const {
    if (axes_ == 1) return std::size_t(counts_[0]);
    std::size_t all = 0;
    for (std::size_t a = 1; a < axes_; ++a)
      for (std::size_t b = 0; b < a; ++b) all += std::size_t(counts_[a]) * counts_[b];
    return all;
  }

 private:
  std::size_t axes_;
  std::vector<int> counts_;
};

}  // namespace

// Takes the case with most pairs that no case before it has, again and again. What a case adds only
// falls, so a case whose number, counted anew, is still the largest is the best. Among equals, a
// hash decides, so that the choice does not follow the order of the axes.
std::vector<std::size_t> cover_pairs(const std::vector<Levels>& cases) {
  const Pairs pairs(cases);
  std::vector<bool> covered(pairs.count());
  struct Candidate {
    std::size_t adds, hash, index;
    bool operator<(const Candidate& other) const {
      return std::tie(adds, hash, index) < std::tie(other.adds, other.hash, other.index);
    }
  };
  std::priority_queue<Candidate> queue;
  for (std::size_t k = 0; k < cases.size(); ++k)
    queue.push({cases[k].size() * cases[k].size(), (k + 1) * 0x9e3779b97f4a7c15u >> 16, k});
  std::vector<std::size_t> chosen;
  while (!queue.empty()) {
    Candidate best = queue.top();
    queue.pop();
    const std::vector<std::size_t> its_pairs = pairs.of(cases[best.index]);
    best.adds = std::size_t(
        std::ranges::count_if(its_pairs, [&](std::size_t pair) { return !covered[pair]; }));
    if (best.adds == 0) continue;
    if (!queue.empty() && best < queue.top()) {
      queue.push(best);
      continue;
    }
    for (std::size_t pair : its_pairs) covered[pair] = true;
    chosen.push_back(best.index);
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<std::size_t> choose_cases(const std::vector<Levels>& cases) {
  std::vector<std::size_t> chosen(cases.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (!full_size()) chosen = cover_pairs(cases);
  thin_out(chosen);
  count_chosen(chosen.size(), cases.size());
  return chosen;
}

Levels levels_of(const Runner& runner) {
  static Numbers<std::pair<std::string_view, DeviceKind>> strategies;
  static Numbers<std::string> settings;
  return {strategies({runner.strategy->name, runner.device}), settings(to_string(runner.tuning))};
}

std::vector<int> numbers(int first, int last, int step) {
  std::vector<int> all;
  for (int n = first; n <= last; n += step) all.push_back(n);
  return all;
}

}  // namespace convfilt::test
