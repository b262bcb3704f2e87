/// Rows turned so that kLines of them lie side by side: a vector holds one sample of each.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>

namespace convfilt::cpu {

/// Lines side by side: a cache line of floats; and two such parts, of which a place has both.
inline constexpr int kLines = 16;
inline constexpr int kLinePart = kLines, kLineStep = 2 * kLines;

/// Places of all lines, one behind the other.
using Lines = hwy::AlignedFreeUniquePtr<float[]>;

/// Rows of `stride` samples to lines: row r becomes part `at` of line r; lines without a row are 0.
void lines_from_rows(const float* samples, std::ptrdiff_t stride, int rows, int length, int at,
                     float* lines);
/// And back.
void rows_from_lines(const float* lines, int at, int length, int rows, std::ptrdiff_t stride,
                     float* samples);

}  // namespace convfilt::cpu
