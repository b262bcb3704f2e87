/// What a strategy costs on a GPU, for `auto`: from measurements of one, in copies of the picture
/// inside its memory, so that they hold roughly for others.
#pragma once

#include <optional>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// Times that strategy takes of the time of a device copy of the picture and its result, on a
/// device of compute capability `major`; nothing for a strategy that auto never takes for large
/// pictures. Measured on an H200, 8192x8192 (overlap-save and fft of floats in colour: 4096x4096),
/// with masks of 16-bit weights; between the measured masks the cost is linear in the multiply-adds
/// of a sample, beyond them in proportion to these.
std::optional<double> copies_of(const Strategy& strategy, const Problem& problem, int major);

/// Microseconds that it takes, roughly, by which auto chooses: as copies_of() says of large
/// pictures, as small_gpu_cost.hpp says of small ones, and between them linear in the pixels.
/// Strategies that only small pictures are left to have no copies_of(): in proportion to the
/// pixels.
std::optional<double> microseconds_of(const Strategy& strategy, const Problem& problem, int major);

}  // namespace convfilt
