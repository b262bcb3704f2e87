/// The questions put to every strategy on every device: in a full run all that are described here,
/// in a short one a choice by pairs.
#pragma once

#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {

/// A problem, the picture it is asked of, and how the pictures lie in memory.
struct Case {
  Problem problem;
  Fill fill = Fill::noise;
  std::uint64_t seed = 1;
  int in_gap = 0, out_gap = 0;  ///< samples between the rows
  int lead = 0;                 ///< samples before the first row, so that it is not aligned
};

/// Whether runners with a number set run this case, too. They are many and alike, so they run a
/// third of the cases. A hash spreads these, so that no depth, border or size is left out.
bool is_sampled(const Case& test_case);

/// The case in one line.
std::string to_string(const Case& test_case);

/// All pictures 1x1 to 5x5 under small masks, all borders and depths.
std::vector<Case> tiny_cases();

/// Sizes around the edges of tiles of 16, 32 and 64, and single rows and columns.
std::vector<Case> tile_edge_cases();

/// Every kind of mask on a picture of a few tiles, and on one smaller than most of them.
std::vector<Case> mask_cases();

/// Masks cut into parts, once up to the largest side.
std::vector<Case> large_mask_cases();

/// Masks of -1s with one large weight, which sum to 1: large sums that cancel.
std::vector<Case> cancelling_cases();

/// Gaps between rows, rows that are not aligned, 1 to 5 channels.
std::vector<Case> layout_cases();

/// Every fill under a few masks and every border.
std::vector<Case> fill_cases();

/// Every mode, under masks smaller and larger than the picture, anchored anywhere.
std::vector<Case> mode_cases();

/// These masks at every depth, and in a full run at every border.
std::vector<Case> cases_of_masks(const std::vector<Mask>& masks);

}  // namespace convfilt::test
