/// The findings of comparisons, in words.
#pragma once

#include <span>
#include <string>

#include "src/lab/compare/comparison.hpp"

namespace convfilt {

/// A paragraph on one picture under several masks: which strategy is fastest, by how much, and what
/// bounds it; what tiles bring, by the counters that show it; whether results are right. Counts are
/// never spoken of as times.
std::string summary_of(std::span<const Comparison* const> group);

}  // namespace convfilt
