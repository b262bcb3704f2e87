/// Sharpening that leaves small differences alone, or limits halos. Plain unsharp masking is one
/// mask: sharpen_mask().
#pragma once

#include <optional>

#include "kernels/problem.hpp"
#include "src/filter/filter.hpp"

namespace convfilt {

struct SharpenOptions {
  double amount = 1;
  double threshold = 0;              ///< in 255ths of the samples' range
  std::optional<double> halo_limit;  ///< percent, 0 or more
  int reach = 1;  ///< pixels in each direction within which neighbours limit halos, 1 or more
};

/// Where a sample differs from the response of `blur` by d, the amount times sign(d) times
/// max(|d| - threshold, 0) is added to it, in double precision. The blur is a sum in f32. A halo
/// limit holds the result between the least and the most of the samples around it in the picture,
/// with that share of their distance added on both sides. `blur` reaches at least as far as these.
///
/// Alpha stays, and so do transparent pixels; colours are blurred premultiplied and divided by the
/// blurred alpha. Work begins with UsageError for Mode::full, whose pixels outside the picture have
/// nothing to sharpen.
FilterPtr sharpen_filter(Mask blur, const SharpenOptions& options);

}  // namespace convfilt
