/// The algebra of winograd.cu, which takes samples and weights to values at points, and back.
///
/// A line of n = m + 2 samples and three weights are the coefficients of two polynomials. The
/// values of their product at n points, one of them infinity, determine m sums of weights times
/// samples.
#pragma once

#include <array>

#include "kernels/contract/arithmetic.hpp"

namespace convfilt::transform {

inline constexpr int kWinogradMaskSide = 3;

// The points for m = 2 are 0, 1, -1 and infinity; those for m = 4 are 0, +-kNearPoint, +-kFarPoint
// and infinity. In single precision the latter err a quarter as much as the usual 0, +-1, +-2, and
// all their products are exact.
inline constexpr float kNearPoint = 0.75f, kFarPoint = 1.5f;

/// The mask as the kernel takes it. Output (x, y) begins at in(x + dx, y + dy).
template <int kTile>
struct WinogradMask {
  static constexpr int kSide = kTile + kWinogradMaskSide - 1;
  int dx, dy;
  FloatFinish finish;
  float values[kSide][kSide];
};

/// factor * a + b. It is fused on a GPU, but not on the CPU, where a fused operation may be a
/// function call.
CONVFILT_HD inline float scaled_sum(float factor, float a, float b) {
#ifdef __CUDA_ARCH__
  return multiply_add(factor, a, b);
#else
  return factor * a + b;
#endif
}

/// Turns the samples of a line into values at the points.
CONVFILT_HD inline void to_points(float (&d)[4]) {
  const float middle[] = {d[1], d[2]};
  d[0] = d[2] - d[0];
  d[3] = d[3] - d[1];
  d[1] = middle[1] + middle[0];
  d[2] = middle[1] - middle[0];
}
CONVFILT_HD inline void to_points(float (&d)[6]) {
  constexpr float kNear2 = kNearPoint * kNearPoint, kFar2 = kFarPoint * kFarPoint;
  const float near_even = scaled_sum(-kFar2, d[2], d[4]);
  const float near_odd = kNearPoint * scaled_sum(-kFar2, d[1], d[3]);
  const float far_even = scaled_sum(-kNear2, d[2], d[4]);
  const float far_odd = kFarPoint * scaled_sum(-kNear2, d[1], d[3]);
  d[0] = scaled_sum(kNear2 * kFar2, d[0], scaled_sum(-kNear2 - kFar2, d[2], d[4]));
  d[5] = scaled_sum(kNear2 * kFar2, d[1], scaled_sum(-kNear2 - kFar2, d[3], d[5]));
  d[1] = near_even + near_odd;
  d[2] = near_even - near_odd;
  d[3] = far_even + far_odd;
  d[4] = far_even - far_odd;
}

/// Turns products at the points into outputs, which replace the first products.
CONVFILT_HD inline void from_points(float (&m)[4]) {
  const float difference = m[1] - m[2];
  m[0] = m[0] + (m[1] + m[2]);
  m[1] = difference + m[3];
}
CONVFILT_HD inline void from_points(float (&m)[6]) {
  const float near_sum = m[1] + m[2], near_difference = kNearPoint * (m[1] - m[2]);
  const float far_sum = m[3] + m[4], far_difference = kFarPoint * (m[3] - m[4]);
  m[0] = m[0] + (near_sum + far_sum);
  m[1] = near_difference + far_difference;
  m[2] = scaled_sum(kFarPoint * kFarPoint, far_sum, kNearPoint * kNearPoint * near_sum);
  m[3] =
      scaled_sum(kFarPoint * kFarPoint, far_difference, kNearPoint * kNearPoint * near_difference) +
      m[5];
}

/// The matrix that takes three weights of an axis to their values at the points. Row p gives the
/// value at point p.
template <int kTile>
constexpr auto mask_points() {
  constexpr int kSide = WinogradMask<kTile>::kSide;
  const double points[] = {0, kTile == 2 ? 1 : kNearPoint, kTile == 2 ? -1 : -kNearPoint, kFarPoint,
                           -kFarPoint};
  std::array<std::array<double, kWinogradMaskSide>, kSide> rows{};
  for (int p = 0; p + 1 < kSide; ++p) {
    double scale = 1;
    for (int q = 0; q + 1 < kSide; ++q) {
      if (q != p) scale *= points[p] - points[q];
    }
    rows[p] = {1 / scale, points[p] / scale, points[p] * points[p] / scale};
  }
  rows[kSide - 1] = {0, 0, 1};  // infinity
  return rows;
}

/// The mask's values at the points of both axes, computed on the host.
template <int kTile>
WinogradMask<kTile> winograd_mask(const Mask& mask) {
  constexpr auto kPoints = mask_points<kTile>();
  WinogradMask<kTile> result{0, 0, {1, float(mask.offset)}, {}};
  for (int row = 0; row < result.kSide; ++row) {
    for (int col = 0; col < result.kSide; ++col) {
      double value = 0;
      for (int j = 0; j < mask.height; ++j) {
        for (int i = 0; i < mask.width; ++i) {
          value += kPoints[row][j] * kPoints[col][i] * mask.weight(i, j);
        }
      }
      result.values[row][col] = float(value / mask.divisor);
    }
  }
  return result;
}

}  // namespace convfilt::transform
