/// Several masks whose responses are combined.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

/// How the responses to several masks become one.
enum class Combine {
  sum,
  max,              ///< the largest
  length,           ///< the root of the sum of their squares
  first_strongest,  ///< the one farthest from 0, with its sign; of several such, the first
};
inline constexpr Combine kCombines[] = {Combine::sum, Combine::max, Combine::length,
                                        Combine::first_strongest};

std::string_view name_of(Combine combine);

/// The masks that a file may have, before they are turned.
inline constexpr std::size_t kMaxMasks = 64;

struct MaskSet {
  std::vector<Mask> masks;  ///< one or more
  Combine combine = Combine::max;
};

/// Throws IoError, which names the file, unless there is just one.
Mask only_mask(MaskSet set, const std::string& file_name);

/// The mask, with its anchor, turned counter-clockwise by 90 degrees.
Mask turned_by_quarter(const Mask& mask);

/// The mask with each square ring around its middle moved counter-clockwise by an eighth of the
/// ring. It has odd, equal sides and its anchor in the middle.
Mask turned_by_eighth(const Mask& mask);

/// The masks with zeros around, so that all reach equally far.
std::vector<Mask> reaching_equally_far(std::vector<Mask> masks);

}  // namespace convfilt
