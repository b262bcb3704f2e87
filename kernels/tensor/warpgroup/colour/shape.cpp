#include "kernels/tensor/warpgroup/colour/shape.hpp"

namespace convfilt::tensor::warpgroup::colour {

std::vector<std::uint8_t> banded_matrices(const MaskPart<std::uint8_t>& mask, int height,
                                          int digits, int chunks) {
  constexpr int kCore = 8 * kChunk;  // bytes of a chunk in 8 rows
  const int before = rows_together(digits) - 1, matrices = height + 2 * before;
  const int size = matrix_bytes_of(digits), third = matrices * size;
  std::vector<std::uint8_t> bytes(std::size_t(third / 2 * chunks));
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      for (int output = 0; output < kSegment; ++output) {
        const int sample = output + i, chunk = sample / kChunk;
        std::int32_t rest = mask.weight(i, j);
        for (int digit = 0; digit < digits; ++digit) {
          const int core = digits == 2 ? output / 8 * 2 + digit : output % 2;
          const int row = digits == 2 ? output % 8 : output / 2;
          const int at = chunk < 2 ? (before + j) * size + (2 * core + chunk) * kCore
                                   : third + (before + j) * size / 2 + core * kCore;
          bytes[std::size_t(at + row * kChunk + sample % kChunk)] = std::uint8_t(take_digit(rest));
        }
      }
    }
  }
  return bytes;
}

}  // namespace convfilt::tensor::warpgroup::colour
