/// Masks by formula, for `mask make`.
#pragma once

#include <span>
#include <string_view>

#include "app/grammar/filters.hpp"

namespace convfilt {

/// A line of the table. Help, completion and errors come from it.
struct MakerLine {
  std::string_view name;
  Words needs, may_have;  ///< options
  Mask (*make)(const FilterValues& values);

  bool takes(const std::string& option) const;
};

std::span<const MakerLine> makers();

/// The options of all; each text begins with the names of the masks that take it.
std::vector<FilterOption> maker_options();

/// Throws UsageError for a name that no mask has, and for an option that is missing or wrong.
Mask make_mask_of(const std::string& name, const FilterValues& values);

}  // namespace convfilt
