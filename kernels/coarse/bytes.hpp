/// Sums of integer samples times 16-bit weights, by the instructions that multiply bytes. They are
/// exact, and no sample is converted to a float.
#pragma once

#include "kernels/coarse/samples.hpp"
#include "kernels/contract/bytes.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

/// The upper and the lower bytes of four weights.
struct alignas(8) ByteWeights {
  std::uint32_t upper, lower;
};

/// Adds the products of four samples and the four bytes of `weights` to the sum.
template <class T>
CONVFILT_DEVICE inline std::uint32_t add_products(const FourWords<T>& samples,
                                                  std::uint32_t weights, std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 1) return __dp4a(samples.words[0], weights, sum);
  if constexpr (sizeof(T) == 2)
    return __dp2a_hi(samples.words[1], weights, __dp2a_lo(samples.words[0], weights, sum));
#else
  constexpr int kPerWord = 4 / int(sizeof(T));
  for (int k = 0; k < 4; ++k)
    sum += T(samples.words[k / kPerWord] >> (8 * sizeof(T) * (k % kPerWord))) *
           std::uint32_t(std::uint8_t(weights >> (8 * k)));
  return sum;
#endif
}

/// Sorts four pixels of three interleaved channels by channel.
CONVFILT_DEVICE inline void split(const FourWords<std::uint8_t> (&w)[3],
                                  FourWords<std::uint8_t> (&of_channel)[3]) {
  const std::uint32_t a = w[0].words[0], b = w[1].words[0], c = w[2].words[0];
  of_channel[0].words[0] = pick_bytes(pick_bytes(a, b, 0x0630), c, 0x5210);
  of_channel[1].words[0] = pick_bytes(pick_bytes(a, b, 0x0741), c, 0x6210);
  of_channel[2].words[0] = pick_bytes(pick_bytes(a, b, 0x0052), c, 0x7410);
}
CONVFILT_DEVICE inline void split(const FourWords<std::uint16_t> (&w)[3],
                                  FourWords<std::uint16_t> (&of_channel)[3]) {
  const std::uint32_t words[6] = {w[0].words[0], w[0].words[1], w[1].words[0],
                                  w[1].words[1], w[2].words[0], w[2].words[1]};
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t* const three = words + 3 * half;
    of_channel[0].words[half] = pick_bytes(three[0], three[1], 0x7610);
    of_channel[1].words[half] = pick_bytes(three[0], three[2], 0x5432);
    of_channel[2].words[half] = pick_bytes(three[1], three[2], 0x7610);
  }
}

/// The sum of one channel of one row, in two parts: for the upper and for the lower bytes of
/// weights.
struct ByteSums {
  std::uint32_t upper = 0, lower = 0;

  template <class T>
  CONVFILT_DEVICE void add(const FourWords<T>& samples, const ByteWeights& weights) {
    upper = add_products<T>(samples, weights.upper, upper);
    lower = add_products<T>(samples, weights.lower, lower);
  }
  CONVFILT_DEVICE float value() const { return add_product(float(upper), 256, float(lower)); }
};

/// The weights of the B-spline that brings samples onto a grid, as multiples of `unit`, and the sum
/// that samples at the centre would give.
struct ByteLine {
  const ByteWeights* weights;
  float unit, of_centre;
};

}  // namespace convfilt::CONVFILT_BACKEND::coarse
