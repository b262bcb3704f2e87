/// How the data of a trial are read; and how a mask lies in a student's array, which may be larger:
/// in rows of the array where that has two dimensions, else packed.
#pragma once

#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "src/lab/try/runtime/call.hpp"

namespace convfilt::lesson {

struct TrialData {
  LessonNumbers numbers;
  std::vector<float> weights, picture;
};

/// Throws std::runtime_error where they are not whole.
inline TrialData read_trial(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  TrialData data;
  if (!file || std::fread(&data.numbers, sizeof data.numbers, 1, file) != 1)
    throw std::runtime_error("there are no data");
  data.weights.resize(lesson_weights(data.numbers));
  data.picture.resize(lesson_samples(data.numbers, false));
  for (std::vector<float>* floats : {&data.weights, &data.picture})
    if (std::fread(floats->data(), sizeof(float), floats->size(), file) != floats->size())
      throw std::runtime_error("the data are cut");
  std::fclose(file);
  return data;
}

/// The contents of an array of `size` weights. Cells beyond the mask are zeros, as in a program
/// that fills only a part of its array; or, if it is fixed, NaN, since a kernel whose mask has only
/// one size shows there that this is not the size. `columns` and `rows` are 0 where the array has
/// one dimension, `rows` is where it has two and one plane. Throws std::runtime_error where the
/// mask does not fit.
inline std::vector<float> array_of(const std::vector<float>& weights, const LessonNumbers& numbers,
                                   int size, int columns, int rows) {
  std::vector<float> array(
      static_cast<std::size_t>(size),
      numbers.lesson_is_fixed ? std::numeric_limits<float>::quiet_NaN() : 0.0f);
  const int width = numbers.lesson_mask_width, height = numbers.lesson_mask_height,
            depth = numbers.lesson_mask_depth;
  if (columns == 0) columns = width;
  if (rows == 0) rows = depth > 1 ? height : size / columns;
  if (width > columns || height > rows || depth * rows * columns > size)
    throw std::runtime_error("the mask of " + std::to_string(width) + "x" + std::to_string(height) +
                             (depth > 1 ? "x" + std::to_string(depth) : "") +
                             " is larger than the __constant__ array, which has room for " +
                             std::to_string(size) + " weights");
  for (int k = 0; k < depth; ++k)
    for (int j = 0; j < height; ++j)
      for (int i = 0; i < width; ++i)
        array[std::size_t((k * rows + j) * columns + i)] =
            weights[std::size_t((k * height + j) * width + i)];
  return array;
}

/// The same for an array of that type.
template <class Array>
std::vector<float> array_of(const std::vector<float>& weights, const LessonNumbers& numbers) {
  constexpr unsigned rank = std::rank_v<Array>;
  return array_of(weights, numbers, int(sizeof(Array) / sizeof(float)),
                  rank > 1 ? int(std::extent_v<Array, (rank > 1 ? rank - 1 : 0)>) : 0,
                  rank > 2 ? int(std::extent_v<Array, (rank > 2 ? rank - 2 : 0)>) : 0);
}

}  // namespace convfilt::lesson
