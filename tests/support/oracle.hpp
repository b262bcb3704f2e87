/// The slow truth: convolution straight from the definition in problem.hpp, in tests only.
///
/// It shares no code with kernels/: borders are found by walking, sums are taken in double
/// precision or, for 8-bit pictures under integer masks, in 128-bit integers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/problem.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {

/// The index that stands in for i, found by stepping outwards from the nearest edge; -1 means the
/// border value.
int walk_border(Border border, int i, int n);

/// The real-valued result, neither rounded nor saturated, row by row, channels interleaved.
std::vector<double> convolve(const Problem& problem, const Picture& in);

/// The one right answer for 8-bit pictures whose mask is integers over an integer divisor: rounded
/// half to even, saturated. Nothing for other problems.
std::optional<std::vector<std::uint8_t>> convolve_exactly(const Problem& problem,
                                                          const Picture& in);

/// numerator / denominator rounded half to even; denominator > 0.
__extension__ typedef __int128 Wide;
Wide divide_half_to_even(Wide numerator, Wide denominator);

}  // namespace convfilt::test
