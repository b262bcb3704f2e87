#include "src/compare/comparison.hpp"

#include "src/compare/table.hpp"

namespace convfilt {

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
  return mask.name + " " + std::to_string(mask.width) + "x" + std::to_string(mask.height);
}

}  // namespace convfilt
