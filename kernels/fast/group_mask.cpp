#include "group_mask.hpp"

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

int signed_digits(const MaskPart<std::uint8_t>& mask) {
  int most = 1;
  for (int k = 0; k < mask.width * mask.height; ++k) {
    std::int32_t rest = mask.weights[k];
    int digits = 0;
    for (; rest != 0 && digits < kMostDigits; ++digits) take_digit(rest);
    most = std::max(most, digits);
  }
  return most;
}

std::vector<std::uint8_t> group_bands_of(const MaskPart<std::uint8_t>& mask, int channels,
                                         int digits, int steps) {
  constexpr int kHalf = 16 * 8;  // bytes of 16 samples of 8 columns
  const int bands = group_bands(digits, mask.height), size = group_band_bytes(digits);
  const int slack = slack_of(mask.dx * channels), before = group_rows(digits) - 1;
  std::vector<std::uint8_t> bytes(std::size_t(steps) * bands * size);
  for (int j = 0; j < mask.height; ++j) {
    const int band = before + mask.height - 1 - j;
    for (int i = 0; i < mask.width; ++i) {
      for (int output = 0; output < kGroupSegment; ++output) {
        const int sample = slack + output + i * channels, k = sample % kGroupStep;
        const int half = output / 2 % 2, column = output / 4 * 2 + output % 2;
        std::int32_t rest = mask.weight(i, j);
        for (int digit = 0; digit < digits; ++digit) {
          const int at =
              (sample / kGroupStep * bands + band) * size + (2 * digit + half) * 2 * kHalf;
          bytes[std::size_t(at + k / 16 * kHalf + column * 16 + k % 16)] =
              std::uint8_t(take_digit(rest));
        }
      }
    }
  }
  return bytes;
}

GroupEnd group_end(const MaskPart<std::uint8_t>& mask, int digits) {
  GroupEnd end;
  end.any = mask.finish;
  if (digits < kMostDigits) {
    end.floats =
        float_end(mask.finish, mask.weights, mask.width * mask.height, digits, Digits::all_signed);
  }
  end.halves = half_to_even(mask.finish);
  return end;
}

}  // namespace convfilt
