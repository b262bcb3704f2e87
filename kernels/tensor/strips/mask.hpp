/// The mask of tensor_strips.cu as its kernel takes it, by value.
#pragma once

#include "kernels/contract/float_end.hpp"
#include "kernels/contract/half_to_even.hpp"
#include "kernels/tensor/layout.hpp"
#include "kernels/tensor/strips/strips.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kMostSteps = 2, kMostHeight = 9;  // whose rows and bands fit registers
constexpr int kMostBandWords = 768;             // so that the mask fits a kernel's arguments

/// In samples: channels lie side by side.
struct StripMask {
  int dx, dy;
  FloatEnd float_end;    ///< of one digit and two
  HalfToEven shift_end;  ///< of three, where it is usable
  IntegerFinish end;
  std::uint32_t bands[kMostBandWords];  ///< of row j and digit d: from (j * digits + d) * words on
};

inline StripMask strip_mask(const MaskPart<std::uint8_t>& mask, const Strips& strips,
                            int channels) {
  StripMask s{};
  s.dx = mask.dx * channels;
  s.dy = mask.dy;
  s.end = mask.finish;
  s.shift_end = half_to_even(mask.finish);
  s.float_end = float_end(mask.finish, mask.weights, mask.width * mask.height, strips.digits);
  const int words = band_words_of(strips.steps);
  for (int j = 0; j < mask.height; ++j) {
    for (int at = 0; at < words; ++at) {
      for (int byte = 0; byte < 4; ++byte) {
        const int i = band_column(at, byte, s.dx, mask.width, channels);
        if (i < 0) continue;
        const auto weight = std::uint32_t(mask.weight(i, j));
        for (int digit = 0; digit < strips.digits; ++digit) {
          s.bands[(j * strips.digits + digit) * words + at] |= (weight >> (8 * digit) & 255)
                                                               << (8 * byte);
        }
      }
    }
  }
  return s;
}

}  // namespace convfilt::CONVFILT_BACKEND
