/// Fourier transforms of lines, kFftLines side by side, so that vectors hold one number of each.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <vector>

#include "complex.hpp"

namespace convfilt::cpu {

/// Lines transformed together: two cache lines of complex numbers of each row, where lines are
/// columns.
inline constexpr int kFftLines = 16;

/// Numbers of all lines: kFftLines real parts, then as many imaginary ones, and so on.
using FftLines = hwy::AlignedFreeUniquePtr<float[]>;
inline constexpr int kFftPart = kFftLines, kFftStep = 2 * kFftLines;

/// One line's length, its factors and its roots of unity. Stockham's algorithm: every step reads
/// one array and writes the other, so that the numbers end in order.
class LineFft {
 public:
  explicit LineFft(int length);

  int length() const { return length_; }

  /// Floats of each of the two arrays.
  std::size_t floats() const { return std::size_t(length_) * kFftStep; }

  /// Forward, unscaled. Returns the one of the two that holds the result.
  float* run(float* lines, float* other) const;

  /// Numbers become their products with the conjugates of `mask`, parts swapped: a forward
  /// transform of them is the inverse, swapped as well.
  void multiply_conjugate_swapped(const float* mask, float* lines) const;

 private:
  struct Step {
    int radix, stride, groups;  ///< length = radix * stride * groups
    std::size_t roots;          ///< where its roots begin
  };
  int length_;
  std::vector<Step> steps_;
  std::vector<Complex> roots_;
};

}  // namespace convfilt::cpu
