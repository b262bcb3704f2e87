/// Cases chosen by pairs: few of many combinations, which still have every two levels together.
///
/// Most mistakes show with one value of an axis, or with two values of two axes: a border in one
/// mode, a depth under one kind of mask. So a short run takes a covering array of the combinations,
/// and a full one takes them all.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/environment.hpp"

namespace convfilt::test {

/// The level that a case has on each axis: a small number, 0 or above.
using Levels = std::vector<int>;

/// Numbers values by the order in which they come: levels of what has no numbers.
template <class Value>
class Numbers {
 public:
  int operator()(const Value& value) {
    return seen_.try_emplace(value, int(seen_.size())).first->second;
  }

 private:
  std::map<Value, int> seen_;
};

/// The indices, ascending, of few of these cases. They have every pair of levels of two axes that
/// any case has, or every level where there is one axis. The same cases always give the same
/// choice.
std::vector<std::size_t> cover_pairs(const std::vector<Levels>& cases);

/// All of these cases in a full run, and cover_pairs() in a short one. `levels` gives the Levels of
/// a case. Both numbers are counted for the line that a run ends with.
template <class Case, class F>
std::vector<Case> by_pairs(std::vector<Case> cases, F levels);

/// Every combination of the axes' values with its number from 0 on: tuples of
/// (number, value, value, ...), chosen by pairs. `where` takes values and leaves combinations out.
template <class Where, class... Axes>
auto combinations_where(Where where, const Axes&... axes);
template <class... Axes>
auto combinations(const Axes&... axes) {
  return combinations_where([](const auto&...) { return true; }, axes...);
}

/// A runner on two axes: its strategy on its device, and its settings.
Levels levels_of(const Runner& runner);

/// The numbers first, first + step, ..., up to last.
std::vector<int> numbers(int first, int last, int step = 1);

// ------------------------------------------------------------------------------------------------

/// Which of so many cases run; counts them.
std::vector<std::size_t> choose_cases(const std::vector<Levels>& cases);

template <class Case, class F>
std::vector<Case> by_pairs(std::vector<Case> cases, F levels) {
  std::vector<Levels> all;
  for (const Case& c : cases) all.push_back(levels(std::as_const(c)));
  std::vector<Case> chosen;
  for (std::size_t k : choose_cases(all)) chosen.push_back(std::move(cases[k]));
  return chosen;
}

template <class Where, class... Axes>
auto combinations_where(Where where, const Axes&... axes) {
  using Combination = std::tuple<std::size_t, std::decay_t<decltype(*std::begin(axes))>...>;
  const std::size_t sizes[] = {std::size(axes)...};
  std::size_t count = 1;
  for (std::size_t size : sizes) count *= size;
  const auto with_values = [&](const Levels& level, auto f) {
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      return f(*(std::begin(axes) + level[k])...);
    }
    (std::index_sequence_for<Axes...>{});
  };
  std::vector<std::size_t> found;
  std::vector<Levels> levels;
  for (std::size_t number = 0; number < count; ++number) {
    Levels level(sizeof...(axes));
    std::size_t rest = number;
    for (std::size_t k = sizeof...(axes); k-- > 0; rest /= sizes[k])
      level[k] = int(rest % sizes[k]);
    if (!with_values(level, where)) continue;
    found.push_back(number);
    levels.push_back(std::move(level));
  }
  std::vector<Combination> chosen;
  for (std::size_t k : choose_cases(levels)) {
    chosen.push_back(with_values(levels[k], [&](const auto&... values) {
      return Combination{found[k], values...};
    }));
  }
  return chosen;
}

}  // namespace convfilt::test
