/// A fitted mask's weights in the order in which the kernels of coarse.cu read them.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/coarse/bytes.hpp"
#include "kernels/coarse/mask.hpp"
#include "kernels/coarse/sums.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

using namespace convfilt::coarse;

/// All weights in one buffer, in which each array begins at a multiple of 16 bytes.
class WeightList {
 public:
  /// Adds an array, and returns where it begins, in fours.
  int add(const std::vector<float>& weights) {
    const int at = int(floats_.size()) / 4;
    floats_.insert(floats_.end(), weights.begin(), weights.end());
    floats_.resize(std::size_t(ceil_div(int(floats_.size()), 4)) * 4);
    return at;
  }
  const std::vector<float>& floats() const { return floats_; }

 private:
  std::vector<float> floats_;
};

/// Where the arrays of an axis begin, in fours, and the steps of its lines.
struct AxisWeights {
  int line, line_steps, coarse, coarse_steps, down, down_bytes, down_in_threes, back_in_threes;
};

/// PaddedLine::steps of a line.
inline int steps_of(const std::vector<float>& line) {
  return ceil_div(int(line.size()) + kSumsAThread - 1, 4);
}

/// Adds the weights of a PaddedLine.
inline int add_line(WeightList& list, const std::vector<float>& line) {
  // The line is one step longer, since fours are loaded a step before they are used.
  std::vector<float> padded(4 * std::size_t(steps_of(line) + 1) + kSumsAThread);
  std::copy(line.begin(), line.end(), padded.begin() + kSumsAThread - 1);
  return list.add(padded);
}

/// Adds a B-spline as SplineWeights.
inline int add_in_threes(WeightList& list, const std::vector<float>& spline, int step) {
  std::vector<float> threes;
  for (int t = 0; t < step; ++t) {
    for (int n = kOrder - 1; n >= 0; --n) threes.push_back(spline[t + n * step]);
    threes.push_back(0);
  }
  return list.add(threes);
}

/// Adds the ByteWeights of the B-spline that brings samples onto the grid, in the bits of floats.
inline int add_bytes(WeightList& list, const Axis& axis) {
  std::vector<float> bits;
  for (std::size_t t = 0; t < axis.down.size(); t += 4) {
    ByteWeights four{};
    for (int k = 0; k < 4; ++k) {
      const auto whole = std::uint32_t(axis.down[t + k] / axis.down_unit);
      four.upper |= whole >> 8 << (8 * k);
      four.lower |= (whole & 255) << (8 * k);
    }
    bits.push_back(std::bit_cast<float>(four.upper));
    bits.push_back(std::bit_cast<float>(four.lower));
  }
  return list.add(bits);
}

inline AxisWeights add_axis(WeightList& list, const Axis& axis) {
  return {add_line(list, axis.line),
          steps_of(axis.line),
          add_line(list, axis.coarse),
          steps_of(axis.coarse),
          list.add(axis.down),
          add_bytes(list, axis),
          add_in_threes(list, axis.down, axis.step),
          add_in_threes(list, axis.back, axis.step)};
}

}  // namespace convfilt::CONVFILT_BACKEND::coarse
