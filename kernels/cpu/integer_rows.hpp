/// The inner loops of 8-bit pictures, for every vector width, chosen at run time.
#pragma once

#include <cstdint>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/cpu/integer_taps.hpp"

namespace convfilt::cpu {

/// IntegerFinish in a form for vectors.
struct VectorFinish {
  explicit VectorFinish(const IntegerFinish& finish);

  std::int32_t offset;  ///< (sum + offset) / divisor, rounded half to even, saturated
  std::int32_t divisor;
  std::int32_t lowest_sum, highest_sum;  ///< sums beyond saturate
  std::int32_t half;                     ///< divisor / 2
  std::int32_t even;                     ///< 1 when the divisor is even
  int shift;  ///< log2(divisor) where that is exact and no sum + offset overflows; or -1
};

/// pairs[x] = (first[x], second[x]). May write whole blocks beyond n.
void make_pairs(const std::uint8_t* first, const std::uint8_t* second, int n, std::int32_t* pairs);

/// taps.rows rows of output: out[r][x] = finish(sum over taps t of weights(t, r) . sources[t][x]).
/// A null out[r] is left out.
void filter_rows(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                 const VectorFinish& finish, std::uint8_t* const* out);

/// The row pass of two rows, from their pairs of pixels: pairs[x] = (even row, odd row) finished to
/// int16, which are the pairs of rows that the column pass reads. May write whole blocks beyond n.
void pass_rows(const IntegerTaps& taps, const std::int32_t* const* even,
               const std::int32_t* const* odd, int n, const VectorFinish& finish,
               std::int32_t* pairs);

}  // namespace convfilt::cpu
