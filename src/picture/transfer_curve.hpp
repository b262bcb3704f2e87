/// From encoded samples to linear light, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "src/picture/metadata.hpp"

namespace convfilt {

/// How a picture's samples tell amounts of light, for each colour: by the curves of its ICC
/// profile, else by sRGB's (IEC 61966-2-1). Floats without a profile are linear already.
class TransferCurve {
 public:
  /// `note` says what became of a profile that has no curves; it may stay empty. Channels are those
  /// of the picture; alpha is no light and keeps its value.
  TransferCurve(const Metadata::Bytes& icc, Depth depth, int channels, std::string* note);

  bool is_linear() const { return tables_.empty(); }

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
  };
  template <class Curve>
  static Table table_of(int count, Curve curve);

  Depth depth_;
  std::vector<Table>
      tables_;  ///< of blue, green and red, or of grey; empty where nothing is to be done
};

}  // namespace convfilt
