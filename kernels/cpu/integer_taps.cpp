#include "kernels/cpu/integer_taps.hpp"

#include <algorithm>

namespace convfilt::cpu {
namespace {

constexpr int kLowBits = 15;

std::int32_t high_part(std::int32_t weight) {
  if (weight >= -32767 && weight <= 32767) return 0;
  return (weight + (1 << (kLowBits - 1))) >> kLowBits;
}

std::int32_t low_part(std::int32_t weight) {
  return weight - high_part(weight) * (1 << kLowBits);
}

std::int32_t pair_of(std::int32_t first, std::int32_t second) {
  return std::int32_t((std::uint32_t(second) << 16) | (std::uint32_t(first) & 0xffff));
}

// Adds the places where some output row has a weight. Zero weights add nothing to an integer sum.
template <class Weight>
void add_taps(IntegerTaps& taps, int width, int step, std::int32_t (*part)(std::int32_t),
              Weight&& weight) {
  std::vector<std::int32_t> pairs;
  for (int slot = 0; slot < taps.slots; ++slot) {
    for (int i = 0; i < width; ++i) {
      pairs.clear();
      for (int r = 0; r < taps.rows; ++r) {
        pairs.push_back(pair_of(part(weight(i, 2 * slot - r)), part(weight(i, 2 * slot + 1 - r))));
      }
      if (std::all_of(pairs.begin(), pairs.end(), [](std::int32_t p) { return p == 0; })) continue;
      taps.places.push_back({slot, i * step});
      taps.weights.insert(taps.weights.end(), pairs.begin(), pairs.end());
    }
  }
}

}  // namespace

IntegerTaps taps_on_row_pairs(const std::vector<std::int32_t>& weights, int width, int height,
                              int step, int rows) {
  IntegerTaps taps;
  taps.rows = rows;
  taps.slots = (height + rows) / 2;
  const auto weight = [&](int i, int j) {
    return j < 0 || j >= height ? 0 : weights[std::size_t(j) * width + i];
  };
  add_taps(taps, width, step, high_part, weight);
  taps.high = taps.count();
  add_taps(taps, width, step, low_part, weight);
  return taps;
}

IntegerTaps taps_on_pixel_pairs(const std::vector<std::int32_t>& weights, int step) {
  // A column of weights on row pairs, laid down: slot q becomes the offset of pixel 2q.
  IntegerTaps taps = taps_on_row_pairs(weights, 1, int(weights.size()), 1, 1);
  for (Place& place : taps.places) place = {0, place.slot * 2 * step};
  taps.slots = 1;
  return taps;
}

}  // namespace convfilt::cpu
