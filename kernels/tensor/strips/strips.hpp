/// tensor's way for small masks: each warp filters a strip of columns.
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::strips {

/// The numbers that a kernel for strips is compiled for, and how high its strips are.
struct StripSize {
  int digits = 0;  ///< digits of a weight in base 256; 0 where strips do not take the mask
  int steps = 0;   ///< steps of 16 samples that cover the taps of 8 neighbouring outputs
  int height = 0;  ///< the kernel's mask height: the mask's own or a little more
  int rows = 0;    ///< rows of outputs of a strip
};

/// The size for a whole mask of `digits` digits, and pictures with `channels` channels side by
/// side.
StripSize size_for(const MaskPart<std::uint8_t>& mask, int digits, int channels, int out_width,
                   int out_height);

Geometry geometry(const StripSize&);

/// Whether planes of these widths, in samples, are wide enough for a strip.
bool wide_enough(int in_width, int out_width);

/// Whether a plane is wide enough, and its rows begin at addresses that copies of chunks can take.
bool takes(const LaunchJob&);

/// Filters a plane in strips.
void filter(const Problem&, const LaunchJob&, const StripSize&, const Stream&);

}  // namespace convfilt::CONVFILT_BACKEND::tensor::strips
