#include "kernels/separable/walk/mask.hpp"

#include <algorithm>
#include <cmath>

namespace convfilt::separable::walk {
namespace {

template <class T>
std::optional<SquareMask> as_it_is(const SeparableMask<T>& mask) {
  const int side = mask.width();
  if (mask.terms.size() > 1 || side != mask.height() || side % 2 == 0 || side < 3 ||
      side > kMostSide) {
    return {};
  }
  const auto& [row, column] = mask.terms.front();
  SquareMask m;
  m.side = side;
  m.dx = -row.anchor_x;
  m.dy = -column.anchor_y;
  m.finish = column.finish;
  std::copy_n(row.weights.begin(), side, m.row);
  std::copy_n(column.weights.begin(), side, m.column);
  return m;
}

/// Multiplies value by a power of two, and tells whether the result is exact.
bool scale(float& value, int exponent) {
  const float scaled = std::ldexp(value, exponent);
  const bool exact = std::isfinite(scaled) && std::ldexp(scaled, -exponent) == value;
  value = scaled;
  return exact;
}

}  // namespace

std::optional<SquareMask> square_mask(const SeparableMask<float>& mask) {
  return as_it_is(mask);
}

std::optional<SquareMask> square_mask(const SeparableMask<std::uint16_t>& mask) {
  auto m = as_it_is(mask);
  if (!m) return {};
  const int side = mask.width();
  float largest = 0;
  for (int i = 0; i < side; ++i) largest = std::max(largest, std::abs(m->row[i]));
  // The row's largest weight is scaled until a float can hold no larger power of two. All weights
  // of the row must then be integers. Their products with samples are multiples of the least float,
  // so no sum is rounded that would not be rounded without scaling.
  const int up = 127 - std::ilogb(largest);
  bool exact = scale(m->finish.scale, -16) && scale(m->finish.offset, -16);
  for (int i = 0; i < side; ++i) {
    exact = exact && scale(m->row[i], up) && std::trunc(m->row[i]) == m->row[i] &&
            scale(m->column[i], 149 - up);
  }
  return exact ? m : std::nullopt;
}

}  // namespace convfilt::separable::walk
