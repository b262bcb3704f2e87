/// Fourier transforms on the CPU, by OpenCV.
#pragma once

#include <cstddef>

#include "kernels/backend/fourier.hpp"

namespace convfilt::cpu {

/// A batch of 2D transforms, real to complex and back, of rows x columns samples each, which follow
/// each other without gaps. A half spectrum has rows x (columns / 2 + 1) numbers. Neither direction
/// scales, so both together give the samples times columns * rows.
class Fft {
 public:
  /// `columns` must be even. 0 threads means all cores.
  Fft(int columns, int rows, int batch, int threads)
      : columns_(columns), rows_(rows), batch_(batch), threads_(threads) {}

  /// The CPU needs no work area.
  static std::size_t estimated_workspace(int, int, int) { return 0; }
  std::size_t workspace_bytes() const { return 0; }
  void use_workspace(std::byte*) {}

  void forward(const float* samples, Complex* spectra) const;

  /// The spectra are overwritten.
  void inverse(Complex* spectra, float* samples) const;

 private:
  int half() const { return columns_ / 2 + 1; }
  int threads_worth() const;
  template <class F>
  void for_row_groups(F f) const;
  void transform_columns(Complex* spectra, int flags) const;

  int columns_, rows_, batch_, threads_;
};

}  // namespace convfilt::cpu
