/// Which way of computing a convolution made a picture.
#pragma once

#include <cstdint>
#include <vector>

#include "src/lab/check/conventions.hpp"

namespace convfilt {

/// How far a picture is from what a convention makes.
struct Deviation {
  std::int64_t samples = 0, different = 0;
  std::int64_t far = 0;  ///< more than a step off
  double largest = 0, mean = 0;
  int x = 0, y = 0, channel = 0;  ///< the first sample that is `largest` off
  double is = 0, should = 0;      ///< that sample
};

struct Agreement {
  Convention convention;
  std::vector<Convention> equal;  ///< others, as far as looked at, that make the same
  Deviation deviation;            ///< of all samples
};

/// The way that comes nearest to the whole picture. `threads` 0 = all cores.
Agreement nearest_convention(const Conventions& all, int threads = 0);


/// |theirs - what the convention makes| * gain for each sample, in 8 bits.
Image difference_picture(const Conventions& all, const Convention& convention, double gain,
                         int threads = 0);

}  // namespace convfilt
