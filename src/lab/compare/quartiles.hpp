/// The median of many times of one thing, how far they scatter, and how many are worth taking.
#pragma once

#include <functional>
#include <vector>

namespace convfilt {

struct Quartiles {
  double median = 0;
  double iqr = 0;  ///< between the quartiles
};

/// The quantiles interpolate linearly between the ordered values; no values give zeros.
Quartiles quartiles_of(std::vector<double> values);

/// Runs of one thing, at the least: fewer show nothing of the spread.
inline constexpr int kLeastRuns = 3;

/// How many runs of that many milliseconds fit the budget: least..most.
int runs_within(double budget_ms, double ms, int least, int most);

/// The milliseconds of as many runs as fit the budget, kLeastRuns..most. `run` gives those of so
/// many; the first call tells how long one takes. Empty where it gives none.
std::vector<double> times_within(double budget_ms, int most,
                                 const std::function<std::vector<double>(int runs)>& run);

}  // namespace convfilt
