// A 2D transform takes all rows, then all columns. Groups of columns are first gathered as rows,
// since OpenCV transforms rows fast, and whole cache lines are read that way.

#include "kernels/backend/host/fft.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <opencv2/core/hal/hal.hpp>
#include <string>

#include "kernels/backend/device_errors.hpp"
#include "kernels/backend/host/parallel.hpp"

namespace convfilt::cpu {
namespace {

// OpenCV makes its tables anew in every call. A call takes this many samples, which make up for
// that and still stay in a core's cache.
constexpr int kGroupSamples = 1 << 16;

// Columns that are gathered at a time fill two cache lines of each row.
constexpr int kColumns = 16;

// The gathered rows are longer by this, because rows that lie a power of two apart would share few
// places in the cache.
constexpr int kSkew = 8;

using Create = decltype(cv::hal::DFT2D::create);

/// OpenCV brings 16 libraries along, which take as long to load as a short run. So it is loaded
/// when a picture is first transformed.
Create* load_opencv() {
#ifdef CONVFILT_OPENCV_CORE  // its file names
  std::string why;
  for (const char* file : {CONVFILT_OPENCV_CORE}) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void* found = library ? dlsym(library, "_ZN2cv3hal5DFT2D6createEiiiiiii") : nullptr;
    if (found) return reinterpret_cast<Create*>(found);
    why += (why.empty() ? "" : "; ") + std::string(dlerror());
  }
  for (const char* memory : {"failed to map segment", "allocate memory"})
    if (why.find(memory) != why.npos) throw std::bad_alloc();
  throw MissingLibraryError(
      "Fourier transforms on the CPU need OpenCV, which cannot be loaded (" + why +
      "); install OpenCV's core library, or choose a strategy of the direct family");
#else
  return cv::hal::DFT2D::create;
#endif
}

/// As cv::dft with DFT_ROWS: `rows` rows of `columns` numbers, which have one or two channels. The
/// rows lie `stride` floats apart.
void transform_rows(const float* in, float* out, int rows, int columns, int channels,
                    std::size_t stride, int flags) {
  static Create* const create = load_opencv();
  flags |= CV_HAL_DFT_ROWS;
  if (in == out) flags |= CV_HAL_DFT_IS_INPLACE;
  if (rows == 1 || stride == std::size_t(columns) * channels) flags |= CV_HAL_DFT_IS_CONTINUOUS;
  const std::size_t step = stride * sizeof(float);
  create(columns, rows, CV_32F, channels, channels, flags, 0)
      ->apply(reinterpret_cast<const uchar*>(in), step, reinterpret_cast<uchar*>(out), step);
}

}  // namespace

int Fft::threads_worth() const {
  const double samples = double(columns_) * rows_ * batch_;
  return threads_for(std::int64_t(samples * std::log2(double(columns_) * rows_)), threads_);
}

// Calls f(first row, rows, room for them) for groups of rows of all transforms, in parallel.
template <class F>
void Fft::for_row_groups(F f) const {
  const std::int64_t rows = std::int64_t(rows_) * batch_;
  const std::int64_t group = std::max(1, kGroupSamples / columns_);
  parallel_for(int((rows + group - 1) / group), threads_worth(), [&](int, int index) {
    const std::int64_t first = index * group;
    const int count = int(std::min(group, rows - first));
    f(first, count, std::make_unique_for_overwrite<float[]>(std::size_t(count) * columns_).get());
  });
}

// OpenCV packs a row's half spectrum into as many floats as there are samples: Re0, Re1, Im1, ...,
// and at the end the real part of the middle frequency.
void Fft::forward(const float* samples, Complex* spectra) const {
  for_row_groups([&](std::int64_t first, int rows, float* packed) {
    transform_rows(samples + first * columns_, packed, rows, columns_, 1, columns_, 0);
    for (int row = 0; row < rows; ++row) {
      const float* from = packed + std::ptrdiff_t(row) * columns_;
      Complex* to = spectra + (first + row) * half();
      to[0] = {from[0], 0};
      std::memcpy(static_cast<void*>(to + 1), from + 1, (columns_ - 2) * sizeof(float));
      to[half() - 1] = {from[columns_ - 1], 0};
    }
  });
  transform_columns(spectra, 0);
}

void Fft::inverse(Complex* spectra, float* samples) const {
  transform_columns(spectra, CV_HAL_DFT_INVERSE);
  for_row_groups([&](std::int64_t first, int rows, float* packed) {
    for (int row = 0; row < rows; ++row) {
      const Complex* from = spectra + (first + row) * half();
      float* to = packed + std::ptrdiff_t(row) * columns_;
      to[0] = from[0].x;
      std::memcpy(to + 1, from + 1, (columns_ - 2) * sizeof(float));
      to[columns_ - 1] = from[half() - 1].x;
    }
    transform_rows(packed, samples + first * columns_, rows, columns_, 1, columns_,
                   CV_HAL_DFT_INVERSE);
  });
}

void Fft::transform_columns(Complex* spectra, int flags) const {
  if (rows_ == 1) return;
  const int groups = (half() + kColumns - 1) / kColumns;
  parallel_for(batch_ * groups, threads_worth(), [&](int, int index) {
    Complex* spectrum = spectra + std::ptrdiff_t(index / groups) * half() * rows_;
    const int first = index % groups * kColumns;
    const int count = std::min(kColumns, half() - first);
    const int stride = rows_ + kSkew;
    const auto space = std::make_unique_for_overwrite<Complex[]>(std::size_t(count) * stride);
    Complex* rows[kColumns];
    for (int k = 0; k < count; ++k) rows[k] = space.get() + std::ptrdiff_t(k) * stride;
    for (int y = 0; y < rows_; ++y) {
      const Complex* from = spectrum + std::ptrdiff_t(y) * half() + first;
      for (int k = 0; k < count; ++k) rows[k][y] = from[k];
    }
    float* gathered = &space[0].x;
    transform_rows(gathered, gathered, count, rows_, 2, std::size_t(2) * stride, flags);
    for (int y = 0; y < rows_; ++y) {
      Complex* to = spectrum + std::ptrdiff_t(y) * half() + first;
      for (int k = 0; k < count; ++k) to[k] = rows[k][y];
    }
  });
}

}  // namespace convfilt::cpu
