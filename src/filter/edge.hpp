/// Edges: how strongly brightness changes, for each colour channel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.hpp"
#include "src/filter/filter.hpp"

namespace convfilt {

struct EdgeMethod {
  std::string_view name;  ///< as in --method
  std::string_view first,
      second;  ///< names in filters/; if `first` is empty the mask is computed, if `second` is,
               ///< there is one mask
};

/// A gradient has a mask for each direction; a second derivative has one for both.
inline constexpr EdgeMethod kEdgeMethods[] = {
    {"sobel", "sobel_x", "sobel_y"},
    {"scharr", "scharr_x", "scharr_y"},
    {"prewitt", "prewitt_x", "prewitt_y"},
    {"laplacian", "laplacian3", ""},
    {"log", "", ""},
};

inline constexpr std::string_view kDirections[] = {"x", "y", "both"};

/// The standard deviation of the LoG that textbooks print as a 9x9 grid.
inline constexpr double kDefaultLogSigma = 1.4;

struct EdgeOptions {
  std::string method = "sobel";    ///< one of kEdgeMethods
  std::string direction = "both";  ///< one of kDirections; only `both` for methods of one mask
  std::optional<double> sigma;     ///< pixels; log only, 0 < sigma
};

/// The masks of a method, one or two. Throws UsageError where the options contradict each other,
/// with the nearest name where one is misspelt.
std::vector<Mask> edge_masks(const EdgeOptions& options);

/// Per channel the root of the sum of squared responses, rounded half to even and saturated: the
/// gradient's length with two masks, |response| with one, so both flanks of an edge are seen.
/// Offsets of masks are left out. Alpha is kept; colours are filtered premultiplied and divided by
/// it. Sums are exact for pictures of integer depth under masks of small integers. Throws
/// UsageError where there are more than two masks, or they reach differently far.
FilterPtr edge_filter(std::vector<Mask> masks);

}  // namespace convfilt
