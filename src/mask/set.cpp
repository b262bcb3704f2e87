#include "src/mask/set.hpp"

#include <algorithm>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {

std::string_view name_of(Combine combine) {
  constexpr std::string_view kNames[] = {"sum", "max", "length", "first-strongest"};
  return kNames[int(combine)];
}

Mask only_mask(MaskSet set, const std::string& file_name) {
  if (set.masks.size() > 1)
    throw IoError(printable_name(file_name) + ": " + plural(set.masks.size(), "mask") +
                  ", where one is needed; give a file with one (apply takes several)");
  return std::move(set.masks[0]);
}

Mask turned_by_quarter(const Mask& mask) {
  Mask turned = mask;
  std::swap(turned.width, turned.height);
  turned.anchor_x = mask.anchor_y;
  turned.anchor_y = mask.width - 1 - mask.anchor_x;
  for (int j = 0; j < turned.height; ++j)
    for (int i = 0; i < turned.width; ++i)
      turned.weights[std::size_t(j) * turned.width + i] = mask.weight(mask.width - 1 - j, i);
  return turned;
}

Mask turned_by_eighth(const Mask& mask) {
  Mask turned = mask;
  const int middle = mask.width / 2;
  // Places of a ring, clockwise from its upper left corner; k is its distance from the middle.
  const auto place = [&](int k, int n) {
    const int side = n / (2 * k), along = n % (2 * k) - k;
    const int x = side == 0 ? along : side == 1 ? k : side == 2 ? -along : -k;
    const int y = side == 0 ? -k : side == 1 ? along : side == 2 ? k : -along;
    return std::size_t(middle + y) * mask.width + std::size_t(middle + x);
  };
  for (int k = 1; k <= middle; ++k)
    for (int n = 0; n < 8 * k; ++n)
      turned.weights[place(k, n)] = mask.weights[place(k, (n + k) % (8 * k))];
  return turned;
}

std::vector<Mask> reaching_equally_far(std::vector<Mask> masks) {
  int left = 0, up = 0, right = 0, down = 0;
  for (const Mask& mask : masks) {
    left = std::max(left, mask.anchor_x);
    up = std::max(up, mask.anchor_y);
    right = std::max(right, mask.width - 1 - mask.anchor_x);
    down = std::max(down, mask.height - 1 - mask.anchor_y);
  }
  if (left + right >= kMaxMaskSide || up + down >= kMaxMaskSide)
    throw UsageError("the masks together reach over " + plural(left + right + 1, "column") +
                     " and " + plural(up + down + 1, "row") + ", and at most " +
                     std::to_string(kMaxMaskSide) + " are possible; move their anchors");
  for (Mask& mask : masks) {
    Mask padded = mask;
    padded.width = left + right + 1;
    padded.height = up + down + 1;
    padded.anchor_x = left;
    padded.anchor_y = up;
    padded.weights.assign(std::size_t(padded.width) * padded.height, 0);
    for (int j = 0; j < mask.height; ++j)
      std::copy_n(mask.weights.begin() + std::ptrdiff_t(j) * mask.width, mask.width,
                  padded.weights.begin() + std::ptrdiff_t(j + up - mask.anchor_y) * padded.width +
                      left - mask.anchor_x);
    mask = std::move(padded);
  }
  return masks;
}

}  // namespace convfilt
