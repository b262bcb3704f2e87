#include "kernels/tensor/warpgroup/mask.hpp"

#include <algorithm>

namespace convfilt::tensor::warpgroup {
namespace {

constexpr int kMostDigits = 3;  // hold all weights, since the sum of |weights| is below 2^30 / 255

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

std::vector<std::uint8_t> banded_matrices(const PreparedMask<std::uint8_t>& mask, const Cut& cut,
                                          int slack, int channels, int digits) {
  constexpr int kHalf = 16 * 8;  // bytes of 16 samples in 8 columns
  const int matrices = matrix_count(digits, cut.height), size = matrix_bytes_of(digits);
  const int before = rows_together(digits) - 1;
  const int part_bytes = bytes_of_part(cut, digits);
  std::vector<std::uint8_t> bytes(std::size_t(cut.parts) * part_bytes);
  for (int j = 0; j < mask.height; ++j) {
    const int part = j / cut.height, matrix = before + j % cut.height;
    for (int i = 0; i < mask.width; ++i) {
      for (int output = 0; output < kSegment; ++output) {
        const int sample = slack + output + i * channels, k = sample % kStep;
        const int half = output / 2 % 2, column = output / 4 * 2 + output % 2;
        std::int32_t rest = mask.weights[std::size_t(j) * mask.width + i];
        for (int digit = 0; digit < digits; ++digit) {
          const int step = sample / kStep, chunks = cut.half && step == cut.steps - 1 ? 1 : 2;
          const int at = step * matrices * size + matrix * (size / 2 * chunks) +
                         ((2 * digit + half) * chunks + k / 16) * kHalf + column * 16 + k % 16;
          bytes[std::size_t(part) * part_bytes + at] = std::uint8_t(take_digit(rest));
        }
      }
    }
  }
  return bytes;
}

Ends ends_of(const IntegerFinish& finish, std::span<const std::int32_t> weights, int digits) {
  Ends end;
  end.any = finish;
  if (digits < kMostDigits) {
    end.floats = float_end(finish, weights.data(), int(weights.size()), digits, Digits::all_signed);
  }
  end.halves = half_to_even(finish);
  return end;
}

}  // namespace convfilt::tensor::warpgroup
