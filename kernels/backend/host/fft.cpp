// A 2D transform takes all rows, then all columns. Groups of columns are first gathered as rows,
// since cv::dft is fast along rows, and whole cache lines are read that way.

#include "kernels/backend/host/fft.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <opencv2/core.hpp>

#include "kernels/backend/host/parallel.hpp"

namespace convfilt::cpu {
namespace {

// cv::dft makes its tables anew in every call. A call takes this many samples, which make up for
// that and still stay in a core's cache.
constexpr int kGroupSamples = 1 << 16;

// Columns that are gathered at a time fill two cache lines of each row.
constexpr int kColumns = 16;

// The gathered rows are longer by this, because rows that lie a power of two apart would share few
// places in the cache.
constexpr int kSkew = 8;

// As parallel_for() does. OpenCV reports missing memory by an exception of another type.
template <class F>
void for_all(int count, int threads, const F& f) {
  parallel_for(count, threads, [&](int thread, int index) {
    try {
      f(thread, index);
    } catch (const cv::Exception& error) {
      if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
      throw;
    }
  });
}

}  // namespace

int Fft::threads_worth() const {
  const double samples = double(columns_) * rows_ * batch_;
  return threads_for(std::int64_t(samples * std::log2(double(columns_) * rows_)), threads_);
}

// Calls f(first row, rows) for groups of rows of all transforms, in parallel.
template <class F>
void Fft::for_row_groups(F f) const {
  const std::int64_t rows = std::int64_t(rows_) * batch_;
  const std::int64_t group = std::max(1, kGroupSamples / columns_);
  for_all(int((rows + group - 1) / group), threads_worth(), [&](int, int index) {
    const std::int64_t first = index * group;
    f(first, int(std::min(group, rows - first)));
  });
}

// OpenCV packs a row's half spectrum into as many floats as there are samples: Re0, Re1, Im1, ...,
// and at the end the real part of the middle frequency.
void Fft::forward(const float* samples, Complex* spectra) const {
  for_row_groups([&](std::int64_t first, int rows) {
    const cv::Mat in(rows, columns_, CV_32F, const_cast<float*>(samples + first * columns_));
    cv::Mat packed;
    cv::dft(in, packed, cv::DFT_ROWS);
    for (int row = 0; row < rows; ++row) {
      const float* from = packed.ptr<float>(row);
      Complex* to = spectra + (first + row) * half();
      to[0] = {from[0], 0};
      std::memcpy(static_cast<void*>(to + 1), from + 1, (columns_ - 2) * sizeof(float));
      to[half() - 1] = {from[columns_ - 1], 0};
    }
  });
  transform_columns(spectra, 0);
}

void Fft::inverse(Complex* spectra, float* samples) const {
  transform_columns(spectra, cv::DFT_INVERSE);
  for_row_groups([&](std::int64_t first, int rows) {
    cv::Mat packed(rows, columns_, CV_32F);
    for (int row = 0; row < rows; ++row) {
      const Complex* from = spectra + (first + row) * half();
      float* to = packed.ptr<float>(row);
      to[0] = from[0].x;
      std::memcpy(to + 1, from + 1, (columns_ - 2) * sizeof(float));
      to[columns_ - 1] = from[half() - 1].x;
    }
    cv::Mat out(rows, columns_, CV_32F, samples + first * columns_);
    cv::dft(packed, out, cv::DFT_INVERSE | cv::DFT_ROWS);
  });
}

void Fft::transform_columns(Complex* spectra, int flags) const {
  if (rows_ == 1) return;
  const int groups = (half() + kColumns - 1) / kColumns;
  for_all(batch_ * groups, threads_worth(), [&](int, int index) {
    Complex* spectrum = spectra + std::ptrdiff_t(index / groups) * half() * rows_;
    const int first = index % groups * kColumns;
    const int count = std::min(kColumns, half() - first);
    cv::Mat space(count, rows_ + kSkew, CV_32FC2);
    cv::Mat gathered = space.colRange(0, rows_);
    Complex* rows[kColumns];
    for (int k = 0; k < count; ++k) rows[k] = gathered.ptr<Complex>(k);
    for (int y = 0; y < rows_; ++y) {
      const Complex* from = spectrum + std::ptrdiff_t(y) * half() + first;
      for (int k = 0; k < count; ++k) rows[k][y] = from[k];
    }
    cv::dft(gathered, gathered, flags | cv::DFT_ROWS);
    for (int y = 0; y < rows_; ++y) {
      Complex* to = spectrum + std::ptrdiff_t(y) * half() + first;
      for (int k = 0; k < count; ++k) to[k] = rows[k][y];
    }
  });
}

}  // namespace convfilt::cpu
