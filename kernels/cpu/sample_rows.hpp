/// Samples to floats and back, a row at a time, for every vector width, chosen at run time. All may
/// read and write whole blocks beyond the ends of rows.
#pragma once

#include <cstdint>

#include "kernels/contract/finish.hpp"

namespace convfilt::cpu {

/// Samples less the centre of their range.
void centre_row(const std::uint8_t* samples, int n, float centre, float* out);
void centre_row(const std::uint16_t* samples, int n, float centre, float* out);
void centre_row(const float* samples, int n, float centre, float* out);

/// The ends of sums, as finish.hpp says.
void finish_row(const FloatFinish& finish, const float* sums, int n, std::uint8_t* out);
void finish_row(const FloatFinish& finish, const float* sums, int n, std::uint16_t* out);
void finish_row(const FloatFinish& finish, const float* sums, int n, float* out);

}  // namespace convfilt::cpu
