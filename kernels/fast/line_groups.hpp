/// How many taps strategy separable-tensor can do in one go.
#pragma once

#include <algorithm>

#include "ceil_div.hpp"
#include "plane_view.hpp"

namespace convfilt {

constexpr int kGroup = 16;  // neighbouring samples that a product takes together
constexpr int kMostGroups = 9;

/// A line's samples lie from a multiple of four on, so that lanes read words: this many before the
/// first one that counts.
CONVFILT_HD constexpr int word_slack(int dx) {
  return dx & 3;
}

/// Groups that cover the taps of 16 neighbouring outputs along each axis.
constexpr int groups_of(int mask_width, int mask_height, int dx) {
  const int across = word_slack(dx) + kGroup - 1 + mask_width, down = kGroup - 1 + mask_height;
  return ceil_div(std::max(across, down), kGroup);
}

}  // namespace convfilt
