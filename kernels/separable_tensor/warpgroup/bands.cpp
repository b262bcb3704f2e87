#include "kernels/separable_tensor/warpgroup/bands.hpp"

namespace convfilt {
namespace {

/// Byte k of row (column) n of a matrix of rows of kPassStep bytes.
int place_of(int n, int k) {
  return n / 8 * 256 + k / 16 * 128 + n % 8 * 16 + k % 16;
}

/// A digit of a weight that has so many.
std::uint8_t digit_of(std::int32_t weight, int digit, int digits) {
  return std::uint8_t(digit < digits - 1 ? weight >> 8 : weight & 255);
}

}  // namespace

std::vector<std::uint8_t> pass_bands(const SeparableTerm<std::uint8_t>& mask, int channels, int dx,
                                     int steps, int blocks, int digits) {
  const auto& row = mask.row.weights;
  const auto& column = mask.column.weights;
  std::vector<std::uint8_t> bands;
  const auto add_band = [&](int bytes, int lines, auto weight_of) {
    for (int digit = 0; digit < digits; ++digit) {
      std::uint8_t* const band = &*bands.insert(bands.end(), std::size_t(bytes), 0);
      for (int n = 0; n < lines; ++n) {
        for (int k = 0; k < kPassStep; ++k) {
          band[place_of(n, k)] = digit_of(weight_of(n, k), digit, digits);
        }
      }
    }
  };
  for (int step = 0; step < steps; ++step) {
    add_band(kRowBandBytes, kPassColumns, [&](int n, int k) {
      const int output = n / 16 * 16 + n % 8 * 2 + n % 16 / 8;
      const int place = step * kPassStep + k - slack_of(dx) - output, tap = place / channels;
      const bool there = place >= 0 && place % channels == 0 && tap < int(row.size());
      return there ? row[std::size_t(tap)] : 0;
    });
  }
  for (int block = 0; block < blocks; ++block) {
    add_band(kColumnBandBytes, kPassRows, [&](int n, int k) {
      const int y = k / 16 * 16 + k % 4 / 2 * 8 + k % 16 / 4 * 2 + k % 2;
      const int tap = block * kPassRows + y - n;
      return tap >= 0 && tap < int(column.size()) ? column[std::size_t(tap)] : 0;
    });
  }
  return bands;
}

}  // namespace convfilt
