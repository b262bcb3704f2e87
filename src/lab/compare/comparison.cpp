#include "src/lab/compare/comparison.hpp"

#include <algorithm>

#include "src/base/suggest.hpp"
#include "src/base/table.hpp"
#include "src/mask/make.hpp"
#include "src/mask/random.hpp"

namespace convfilt {

std::string difference_unit(const Problem& problem) {
  return problem.depth == Depth::f32 ? "1e-6 * sum|w| * max|in|" : "steps";
}

std::string broken_bound(const Row& row, const std::string& unit) {
  if (!row.accuracy) return "";
  const Accuracy& a = *row.accuracy;
  // The test is written with ! because the difference may be no number.
  if (a.bound && !(a.largest <= *a.bound))
    return figure(a.largest) + " " + unit + " from the real-valued result, where " +
           figure(*a.bound) + " are promised";
  const auto& differing = row.family == Family::direct ? a.differing : a.differing_from_family;
  if (differing.value_or(0) > 0)
    return figure(100 * *differing) + " % of its samples are not what its family gives on the CPU";
  return "";
}

std::string mask_label(const Mask& mask) {
  return mask.name + " " + size_text(mask.width, mask.height);
}

bool is_of_a_kind(const Mask& mask) {
  return mask.name == kGaussianName || std::ranges::any_of(kWeights, [&](Weights weights) {
           return name_of(weights) == mask.name;
         });
}

std::string short_label(const Mask& mask) {
  const std::string label = mask_label(mask);
  return is_of_a_kind(mask) ? label.substr(mask.name.size() + 1) : label;
}

const Row* row_like(const Comparison& comparison, const Row& row) {
  const auto found = std::ranges::find_if(comparison.rows, [&](const Row& other) {
    return other.contender == row.contender && other.location == row.location;
  });
  return found == comparison.rows.end() ? nullptr : &*found;
}

std::vector<const Row*> distinct_rows(std::span<const Comparison* const> comparisons,
                                      const std::function<double(const Row&)>& value) {
  std::vector<const Row*> rows;
  for (const Comparison* comparison : comparisons)
    for (const Row& row : comparison->rows)
      if (value(row) > 0 && std::ranges::none_of(rows, [&](const Row* other) {
            return other->contender == row.contender && other->location == row.location;
          }))
        rows.push_back(&row);
  return rows;
}

}  // namespace convfilt
