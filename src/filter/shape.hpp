/// Pictures without their samples, and what an output needs of them.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/problem.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/image.hpp"
#include "src/picture/samples.hpp"

namespace convfilt {

/// A picture without its samples.
struct Shape {
  int width = 0, height = 0, channels = 1;
  Depth depth = Depth::u8;

  bool operator==(const Shape&) const = default;
};

/// The shape of a file's picture once it is turned as its orientation wants.
inline Shape upright_shape(const Header& header) {
  Shape shape{header.width, header.height, header.channels, header.depth};
  if (turns_sideways(header.orientation)) std::swap(shape.width, shape.height);
  return shape;
}

inline Shape shape_of(const Image& image) {
  return {image.width(), image.height(), image.channels(), image.depth()};
}

/// Bytes of all its samples.
inline std::int64_t bytes_of(const Shape& shape) {
  return std::int64_t{shape.width} * shape.height * shape.channels *
         std::int64_t(size_of(shape.depth));
}

/// The samples that an output needs: output (x, y) those of columns x - lead_x to x - lead_x +
/// width - 1, and of rows likewise.
struct Window {
  int width = 1, height = 1;
  int lead_x = 0, lead_y = 0;
};

inline Window window_of(const Problem& problem) {
  return {problem.mask.width, problem.mask.height, problem.lead_x(), problem.lead_y()};
}

}  // namespace convfilt
