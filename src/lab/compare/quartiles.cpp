#include "src/lab/compare/quartiles.hpp"

#include <algorithm>
#include <cstddef>

namespace convfilt {

Quartiles quartiles_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    const double at = share * double(values.size() - 1);
    const std::size_t below = std::size_t(at), above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - double(below)) * (values[above] - values[below]);
  };
  return {quantile(0.5), quantile(0.75) - quantile(0.25)};
}

int runs_within(double budget_ms, double ms, int least, int most) {
  const double fitting = ms > 0 ? budget_ms / ms : double(most);
  return int(std::clamp(fitting, double(std::min(least, most)), double(most)));
}

std::vector<double> times_within(double budget_ms, int most,
                                 const std::function<std::vector<double>(int runs)>& run) {
  const std::vector<double> few = run(std::min(kLeastRuns, most));
  if (few.empty()) return few;
  const int runs = runs_within(budget_ms, quartiles_of(few).median, kLeastRuns, most);
  return runs > int(few.size()) ? run(runs) : few;
}

}  // namespace convfilt
