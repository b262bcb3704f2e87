/// From encoded samples to linear light, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "src/picture/colour.hpp"
#include "src/picture/metadata.hpp"

namespace convfilt {

/// How a picture's samples tell amounts of light, for each colour: see curve_of().
class TransferCurve {
 public:
  /// Channels are those of the picture; alpha is no light and keeps its value.
  TransferCurve(const Metadata& metadata, Depth depth, int channels, std::string* note);

  bool is_linear() const { return tables_.empty() && curves_.empty(); }

  /// A row of pixels as floats, 1 being the most light.
  void to_linear(const std::byte* row, int width, int channels, float* light) const;

  /// Floats as samples of the depth again: each gets the nearest, as samples count.
  void from_linear(const float* light, int width, int channels, std::byte* row) const;

  /// The linear value of a sample of the first colour, in the picture's sample units.
  double linear(double sample) const;

 private:
  struct Table {
    std::vector<float> light;          ///< of every sample
    std::vector<float> thresholds;     ///< light half way between a sample and the next
    std::vector<std::uint32_t> first;  ///< the lowest sample that light of a bucket can become

    std::uint32_t nearest(float value) const;
  };
  template <class Curve>
  static Table table_of(int count, Curve curve);

  /// Floats by the curves, which no table holds for all of them.
  void convert(const float* from, int width, int channels,
               std::function<double(double)> ToneCurve::*way, float* to) const;

  Depth depth_;
  std::vector<ToneCurve> curves_;
  std::vector<Table>
      tables_;  ///< of blue, green and red, or of grey; empty where nothing is to be done
};

}  // namespace convfilt
