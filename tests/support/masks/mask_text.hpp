#pragma once

#include <algorithm>
#include <string>

#include "src/mask/number.hpp"

namespace convfilt::testing {

/// Whether the grammar can express the name: one line, no comment sign, no blanks around it.
inline bool can_be_said(const std::string& name) {
  const auto is_blank = [](char c) { return c == ' '; };
  return !name.empty() && !is_blank(name.front()) && !is_blank(name.back()) &&
         std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '#';
         });
}

/// The offset of a mask with a divisor may be an endless decimal, but it is a multiple of
/// 1/divisor.
inline std::string print_offset(const Mask& mask) {
  const auto exact = multiple_of(mask.offset, mask.divisor);
  if (!exact || exact->den == 1) return print_number(mask.offset);
  return std::to_string(exact->num) + '/' + std::to_string(exact->den);
}

/// The mask as text. parse_mask gives the same mask back (same size, anchor and weights / divisor;
/// and the same numbers for a mask that came from parse_mask). A name that the grammar cannot
/// express is left out.
inline std::string print_mask(const Mask& mask) {
  std::string text;
  if (can_be_said(mask.name)) text += "name: " + mask.name + '\n';
  text += "scale: " + print_number(mask.divisor) + '\n';
  text += "offset: " + print_offset(mask) + '\n';
  text += "anchor: " + std::to_string(mask.anchor_x) + ' ' + std::to_string(mask.anchor_y) + '\n';
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      text += print_number(mask.weight(i, j));
      text += i + 1 < mask.width ? ' ' : '\n';
    }
  }
  return text;
}

}  // namespace convfilt::testing
