#include "kernels/separable_tensor/warpgroup/layout.hpp"

namespace convfilt::separable_tensor::warpgroup {
namespace {

/// The place of byte k of row n, or of column n, in a matrix whose rows, or columns, have kStep
/// bytes.
int place_of(int n, int k) {
  return n / 8 * 256 + k / 16 * 128 + n % 8 * 16 + k % 16;
}

/// Digit number `digit` of a weight that has one or two digits, where number 0 is the top one.
std::uint8_t digit_of(std::int32_t weight, int digit, int digits) {
  return std::uint8_t(digit < digits - 1 ? weight >> 8 : weight & 255);
}

}  // namespace

std::vector<std::uint8_t> banded_matrices(const SeparableTerm<std::uint8_t>& mask, int channels,
                                          int dx, int steps, int slices, int digits) {
  const auto& row = mask.row.weights;
  const auto& column = mask.column.weights;
  std::vector<std::uint8_t> matrices;
  const auto add_matrix = [&](int bytes, int outputs, auto weight_of) {
    for (int digit = 0; digit < digits; ++digit) {
      std::uint8_t* const matrix = &*matrices.insert(matrices.end(), std::size_t(bytes), 0);
      for (int n = 0; n < outputs; ++n) {
        for (int k = 0; k < kStep; ++k) {
          matrix[place_of(n, k)] = digit_of(weight_of(n, k), digit, digits);
        }
      }
    }
  };
  for (int step = 0; step < steps; ++step) {
    add_matrix(kRowMatrixBytes, kColumns, [&](int n, int k) {
      const int output = n / 16 * 16 + n % 8 * 2 + n % 16 / 8;
      const int place = step * kStep + k - slack_of(dx) - output, tap = place / channels;
      const bool there = place >= 0 && place % channels == 0 && tap < int(row.size());
      return there ? row[std::size_t(tap)] : 0;
    });
  }
  for (int slice = 0; slice < slices; ++slice) {
    add_matrix(kColumnMatrixBytes, kRows, [&](int n, int k) {
      const int y = k / 16 * 16 + k % 4 / 2 * 8 + k % 16 / 4 * 2 + k % 2;
      const int tap = slice * kRows + y - n;
      return tap >= 0 && tap < int(column.size()) ? column[std::size_t(tap)] : 0;
    });
  }
  return matrices;
}

}  // namespace convfilt::separable_tensor::warpgroup
