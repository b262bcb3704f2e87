/// Answers to masks of small whole weights for 8-bit pictures on the CPU, in one pass: the length
/// of a gradient, or the largest response.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

/// A weight of both masks on the sample at `offset` samples in row `row` of those that an output
/// needs.
struct GradientTap {
  int row, offset;
  std::int16_t first, second;
};

/// The taps of two masks of one size, without those where both weights are 0. `channels` is the
/// distance of horizontal neighbours in samples. Empty where gradient_row() could not be exact: a
/// weight is not whole, or a response could leave 16 bits.
std::vector<GradientTap> gradient_taps(const Mask& first, const Mask& second, int channels);

/// out[x] = the square root of the sum of both squared responses, rounded half to even and
/// saturated. rows[j] is row j of the samples that the first output needs. n samples are written,
/// none beyond.
void gradient_row(const std::vector<GradientTap>& taps, const std::uint8_t* const* rows, int n,
                  std::uint8_t* out);

/// A weight of a mask, placed like those.
struct WholeTap {
  int row, offset;
  std::int16_t weight;
};

/// The taps of each of some masks of one size, without those where the weight is 0. Empty where
/// they are no such masks, or a response could leave 16 bits.
std::vector<std::vector<WholeTap>> whole_taps(const std::vector<Mask>& masks, int channels);

/// out[x] = the largest response, saturated; otherwise as above.
void gradient_row(const std::vector<std::vector<WholeTap>>& taps, const std::uint8_t* const* rows,
                  int n, std::uint8_t* out);

}  // namespace convfilt
