/// How a mask lies in a student's array, which may be larger: in rows of the array where that has
/// two dimensions, else packed.
#pragma once

#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace convfilt::lesson {

/// What an array of `size` weights holds. Where the mask does not reach are zeros, as a program has
/// them that fills but a part of its array; or, if `is_fixed`, NaN, since a kernel whose mask has
/// one size alone shows there that this is not the size. `columns` is 0 where the array has one
/// dimension. Throws std::runtime_error where the mask does not fit.
inline std::vector<float> array_of(const std::vector<float>& weights, int width, int height,
                                   bool is_fixed, int size, int columns) {
  std::vector<float> array(static_cast<std::size_t>(size),
                           is_fixed ? std::numeric_limits<float>::quiet_NaN() : 0.0f);
  if (columns == 0) columns = width;
  const int rows = columns > 0 ? size / columns : 0;
  if (width > columns || height > rows)
    throw std::runtime_error("the mask of " + std::to_string(width) + "x" + std::to_string(height) +
                             " is larger than the __constant__ array, which has room for " +
                             std::to_string(size) + " weights");
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i)
      array[std::size_t(j * columns + i)] = weights[std::size_t(j * width + i)];
  return array;
}

/// The same for an array of that type.
template <class Array>
std::vector<float> array_of(const std::vector<float>& weights, int width, int height,
                            bool is_fixed) {
  constexpr bool has_rows = std::rank_v<Array> == 2;
  return array_of(weights, width, height, is_fixed, int(sizeof(Array) / sizeof(float)),
                  has_rows ? int(std::extent_v<Array, 1>) : 0);
}

}  // namespace convfilt::lesson
