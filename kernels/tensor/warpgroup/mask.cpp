#include "kernels/tensor/warpgroup/mask.hpp"

#include <algorithm>

namespace convfilt {
namespace {

constexpr int kMostDigits = 3;  // hold all weights: the sum of them stays below 2^30 / 255

}  // namespace

std::int8_t take_digit(std::int32_t& weight) {
  const auto digit = std::int8_t(weight & 255);
  weight = (weight - digit) / 256;
  return digit;
}

int signed_digits(std::span<const std::int32_t> weights) {
  int most = 1;
  for (std::int32_t rest : weights) {
    int digits = 0;
    for (; rest != 0 && digits < kMostDigits; ++digits) take_digit(rest);
    most = std::max(most, digits);
  }
  return most;
}

std::vector<std::uint8_t> group_bands_of(const PreparedMask<std::uint8_t>& mask,
                                         const GroupCut& cut, int slack, int channels, int digits) {
  constexpr int kHalf = 16 * 8;  // bytes of 16 samples of 8 columns
  const int bands = group_bands(digits, cut.height), size = group_band_bytes(digits);
  const int before = group_rows(digits) - 1;
  const int part_bytes = group_part_bytes(cut, digits);
  std::vector<std::uint8_t> bytes(std::size_t(cut.parts) * part_bytes);
  for (int j = 0; j < mask.height; ++j) {
    const int part = j / cut.height, band = before + j % cut.height;
    for (int i = 0; i < mask.width; ++i) {
      for (int output = 0; output < kGroupSegment; ++output) {
        const int sample = slack + output + i * channels, k = sample % kGroupStep;
        const int half = output / 2 % 2, column = output / 4 * 2 + output % 2;
        std::int32_t rest = mask.weights[std::size_t(j) * mask.width + i];
        for (int digit = 0; digit < digits; ++digit) {
          const int step = sample / kGroupStep, chunks = cut.half && step == cut.steps - 1 ? 1 : 2;
          const int at = step * bands * size + band * (size / 2 * chunks) +
                         ((2 * digit + half) * chunks + k / 16) * kHalf + column * 16 + k % 16;
          bytes[std::size_t(part) * part_bytes + at] = std::uint8_t(take_digit(rest));
        }
      }
    }
  }
  return bytes;
}

GroupEnd group_end(const IntegerFinish& finish, std::span<const std::int32_t> weights, int digits) {
  GroupEnd end;
  end.any = finish;
  if (digits < kMostDigits) {
    end.floats = float_end(finish, weights.data(), int(weights.size()), digits, Digits::all_signed);
  }
  end.halves = half_to_even(finish);
  return end;
}

}  // namespace convfilt
