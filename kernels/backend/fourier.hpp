/// The parts that the Fourier transforms of all backends share: complex numbers as FFT libraries
/// lay them out, and the sizes that these libraries are fast at.
#pragma once

#include <initializer_list>

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

/// The next even number from n on of the form 2^a 3^b 5^c 7^d; n >= 1.
inline int good_fft_size(int n) {
  for (int size = n + n % 2;; size += 2) {
    int rest = size;
    for (int factor : {2, 3, 5, 7}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return size;
  }
}

/// The same for the number of rows of a 2D transform. A single row stays single, since it needs no
/// transform along the columns.
inline int good_fft_rows(int n) {
  return n == 1 ? 1 : good_fft_size(n);
}

}  // namespace convfilt
