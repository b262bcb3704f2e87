/// A mask's numbers in the form that the arithmetic wants: integers over a divisor where that is
/// exact.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kernels/problem.hpp"
#include "src/mask/number.hpp"

namespace convfilt {

/// Gives `mask` the weights `weights[i] / scale` and the offset.
///   - Integers over the smallest common divisor of weights and offset, if all of the weights, the
///     divisor and offset * divisor are then below kExactLimit. Nine 1/9 are nine 1s over 9; nine
///     1s with scale 1 stay nine 1s over 1.
///   - Else doubles over 1.
/// A negative scale negates the weights. Returns the index of the first weight whose quotient no
/// double holds, or nothing when all is well. `scale` is not 0.
std::optional<std::size_t> set_weights(Mask& mask, std::span<const Number> weights,
                                       const Number& scale, const Number& offset);

/// The number behind a mask's weight or offset: exact if it is a multiple of 1/divisor or a short
/// decimal.
Number number_of(double value, double divisor = 1);

}  // namespace convfilt
