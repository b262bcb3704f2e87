/// The inner loops of 16-bit and float pictures, for every vector width, chosen at run time.
#pragma once

#include <cstdint>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/cpu/float_taps.hpp"

namespace convfilt::cpu {

/// Samples as floats. May write whole blocks beyond n.
void widen(const std::uint16_t* samples, int n, float* out);
void widen(const float* samples, int n, float* out);

/// Two rows of output by `taps`. out[1] may be null.
void filter_rows(const FloatTaps& taps, const float* const* sources, int n,
                 const FloatFinish& finish, std::uint16_t* const* out);
void filter_rows(const FloatTaps& taps, const float* const* sources, int n,
                 const FloatFinish& finish, float* const* out);

/// out[x] = finish(one chain of weights[i] * row[x + i * step]). May write whole blocks beyond n.
void pass_row(const std::vector<float>& weights, const float* row, int step, int n,
              const FloatFinish& finish, float* out);

/// Two rows of output, each one chain down the column of one term after the other: out[r][x] =
/// finish(sum of columns[t][j] * rows[t * (height + 1) + j + r][x]). out[1] may be null.
using Columns = std::vector<std::vector<float>>;
void pass_columns(const Columns& columns, const float* const* rows, int n,
                  const FloatFinish& finish, std::uint16_t* const* out);
void pass_columns(const Columns& columns, const float* const* rows, int n,
                  const FloatFinish& finish, float* const* out);

}  // namespace convfilt::cpu
