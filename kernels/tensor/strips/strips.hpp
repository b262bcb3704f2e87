/// tensor's way for small masks: strips of columns, a warp each.
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// How a mask is multiplied in strips.
struct Strips {
  int digits = 0;  ///< of base 256 a weight has; 0: the mask is not for strips
  int steps = 0;   ///< of 16 samples that cover the taps of 8 neighbouring outputs
  int height = 0;  ///< of the mask, or a little more: what a kernel is compiled for
  int rows = 0;    ///< outputs that a warp computes one below the other
};

/// For a whole mask of `digits` digits over `channels` channels side by side.
Strips strips_for(const MaskPart<std::uint8_t>& mask, int digits, int channels, int out_width,
                  int out_height);

Geometry strip_geometry(const Strips&);

/// In samples.
bool wide_enough_for_strips(int in_width, int out_width);

/// Whether a plane is wide enough, and its rows start at addresses of whole words.
bool takes_strips(const Pass&);

/// Filters a plane so.
void filter_strips(const Problem&, const Pass&, const Strips&, const Stream&);

}  // namespace convfilt::CONVFILT_BACKEND
