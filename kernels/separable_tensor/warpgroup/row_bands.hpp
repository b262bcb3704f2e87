/// The row pass of separable_groups.cu.
#pragma once

#include "kernels/separable_tensor/mask.hpp"
#include "kernels/separable_tensor/warpgroup/rows.hpp"

namespace convfilt::CONVFILT_BACKEND {

using std::int32_t, std::int8_t, std::uint32_t, std::uint8_t;

constexpr int kPassSums = kPassColumns * kPassRows / kPassThreads;  // of a lane

/// A weight's digits, the top one first, which has the sign.
template <int kDigit>
using DigitOf = std::conditional_t<kDigit == 0, int8_t, uint8_t>;

/// An operand's matrices lie as pass_bands() has them.
CONVFILT_DEVICE inline Operand pass_band(SharedWords words) {
  return operand(words, 8 * 16, 2 * 8 * 16);
}

/// The row bands: a lane's words of all, where there are kSteps of them; else (0) they stay in
/// shared memory, which takes half as long again a product.
template <int kDigits, int kSteps>
class RowBands {
 public:
  CONVFILT_DEVICE RowBands(SharedWords bands, int) {
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    CONVFILT_UNROLL(kSteps * kDigits * 4)
    for (int k = 0; k < kSteps * kDigits * 4; ++k) {
      const int row = 2 * warp + k % 2, half = k % 4 / 2;  // of core matrices
      words_[k / 4][k % 4] =
          bands.get<uint32_t>(k / 4 * (kRowBandBytes / 4) + row * 64 + half * 32 + g * 4 + t);
    }
  }
  /// Adds a digit's products of all steps; the first digit's begin the sums.
  template <int kDigit>
  CONVFILT_DEVICE void multiply_rows(int32_t (&sums)[kPassSums], const Operand& rows) const {
    CONVFILT_UNROLL(kSteps)
    for (int step = 0; step < kSteps; ++step) {
      const auto& band = words_[step * kDigits + kDigit];
      multiply<DigitOf<kDigit>, uint8_t>(sums, band, rows.from(box_step(step)),
                                         kDigit > 0 || step > 0);
    }
  }

 private:
  uint32_t words_[kSteps * kDigits][4];
};

template <int kDigits>
class RowBands<kDigits, 0> {
 public:
  CONVFILT_DEVICE RowBands(SharedWords bands, int steps)
      : bands_(pass_band(bands)), steps_(steps) {}

  template <int kDigit>
  CONVFILT_DEVICE void multiply_rows(int32_t (&sums)[kPassSums], const Operand& rows) const {
    // A loop waits at its end for its products.
    CONVFILT_UNROLL(1)
    for (int step = 0; step < steps_; step += kPassStepsTogether) {
      CONVFILT_UNROLL(kPassStepsTogether)
      for (int k = 0; k < kPassStepsTogether; ++k) {
        const Operand band = bands_.from(((step + k) * kDigits + kDigit) * kRowBandBytes);
        multiply<DigitOf<kDigit>, uint8_t>(sums, band, rows.from(box_step(step + k)),
                                           kDigit > 0 || step + k > 0);
      }
    }
  }

 private:
  Operand bands_;
  int steps_;
};

}  // namespace convfilt::CONVFILT_BACKEND
