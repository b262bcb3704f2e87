/// The sizes that FFT libraries are fast at.
#pragma once

#include <initializer_list>

namespace convfilt {

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

/// The same for the rows of 2D transforms: a single one needs none along the columns.
inline int good_fft_rows(int n) {
  return n == 1 ? 1 : good_fft_size(n);
}

}  // namespace convfilt
