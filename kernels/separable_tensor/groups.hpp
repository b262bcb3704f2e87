/// How many taps strategy separable-tensor can do in one go.
#pragma once

#include <algorithm>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt {

constexpr int kGroup = 16;  // neighbouring samples that a product takes together
constexpr int kMostGroups = 9;

/// Three channels are told apart in shared memory, for as many groups as fit there; of several
/// terms registers hold fewer.
constexpr int most_groups(int channels, int terms) {
  if (terms == 1) return channels == 1 ? kMostGroups : 5;
  return channels == 1 && terms == 2 ? 5 : 3;
}

/// Groups that cover the taps of 16 neighbouring outputs along each axis.
constexpr int groups_of(int mask_width, int mask_height, int dx) {
  const int across = slack_of(dx) + kGroup - 1 + mask_width, down = kGroup - 1 + mask_height;
  return ceil_div(std::max(across, down), kGroup);
}

}  // namespace convfilt
