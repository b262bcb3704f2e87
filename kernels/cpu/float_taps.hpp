/// Float masks in the form that the row kernels take: the chains of the numeric contract, in order.
///
/// Each row of a part of the mask is one chain of fused multiply-adds from zero, left to right; the
/// chains' results are added in order. Two output rows are computed at once: a source row under
/// mask row j of the upper one lies under mask row j - 1 of the lower one, so that one load serves
/// both.
#pragma once

#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/cpu/row_buffer.hpp"

namespace convfilt::cpu {

/// Taps on one source row: a chain for each of the output rows that `upper` and `lower` name.
struct Chain {
  int begin, end;  ///< places
  bool upper, lower;
};

struct FloatTaps {
  int slots = 2;  ///< source rows that two output rows read
  std::vector<Chain> chains;
  std::vector<Place> places;
  std::vector<float> weights;  ///< upper, lower of each place; 0 where there is none
};

/// `step` is the distance of horizontal neighbours in samples.
template <class T>
FloatTaps float_taps(const PreparedMask<T>& mask, int step);

}  // namespace convfilt::cpu
