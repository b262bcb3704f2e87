/// A complex number as FFT libraries lay it out.
#pragma once

#include "kernels/contract/plane_view.hpp"

namespace convfilt {

struct alignas(8) Complex {
  float x, y;  ///< real and imaginary part, named as CUDA's float2
};

CONVFILT_HD inline Complex product(Complex a, Complex b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

CONVFILT_HD inline Complex conjugate(Complex a) {
  return {a.x, -a.y};
}

}  // namespace convfilt
