/// The costs of overlap-discard, overlap-add and in-parts for one problem, beside the direct sum,
/// by formula.
#pragma once

#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// The costs of a whole plane of the picture; kernels that only prepare the mask are left out.
struct OverlapCosts {
  std::string name;                       ///< and the strategy's, where that is another
  int block_columns = 0, block_rows = 0;  ///< samples of a block; 0 where there are none
  int frame_columns = 0, frame_rows = 0;  ///< of its transforms; 0 where there are none
  double blocks = 0;
  double transforms = 0;  ///< there and back, with those of the mask
  double reads = 0;       ///< of samples; ghost cells count
  double writes = 0;      ///< of outputs, and of sums but for those that add
  double additions = 0;   ///< to sums, each of which is a read and a write
  double launches = 0;    ///< of kernels, and calls of the library of transforms
  double multiplications = 0;
  double bytes = 0;     ///< of memory: both pictures, and what lies between them; 0 = not known
  std::string refusal;  ///< why the strategy does not take the problem; the rest is 0 then
};

/// Each strategy takes those of the settings that it has.
std::vector<OverlapCosts> overlap_costs(const Problem& problem, const Tuning& tuning = {});

}  // namespace convfilt
