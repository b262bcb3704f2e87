// A 2D transform is one of all rows, then one of all columns; back, columns come first. A complex
// line can hold two real rows, whose spectra its own splits into.

#include "cpu/fft.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cpu/fft_lines.hpp"
#include "cpu/parallel.hpp"

namespace convfilt::cpu {
namespace {

constexpr int kRows = 2 * kFftLines;  // transformed together

/// What a thread works in.
struct Arrays {
  FftLines one, other;

  void hold(std::size_t floats) {
    if (one) return;
    one = hwy::AllocateAligned<float>(floats);
    other = hwy::AllocateAligned<float>(floats);
    if (!one || !other) throw std::bad_alloc();
  }
};

/// f(arrays, index) for so many groups of lines, in parallel.
template <class F>
void for_groups(int count, int threads, const LineFft& line, F f) {
  std::vector<Arrays> arrays(std::size_t(std::max(threads, 1)));
  parallel_for(count, threads, [&](int worker, int index) {
    arrays[std::size_t(worker)].hold(line.floats());
    f(arrays[std::size_t(worker)], index);
  });
}

}  // namespace

int Fft::threads_worth() const {
  const double samples = double(columns_) * rows_ * batch_;
  return threads_for(std::int64_t(samples * std::log2(double(columns_) * rows_)), threads_);
}

// f(arrays, first row, rows) over all transforms' rows. Two rows share a line only where both are
// of one transform: roundings, infinities and NaN of one show in the other. The rows of small ones
// have lines of their own.
template <class F>
void Fft::for_row_groups(F f) const {
  const bool in_pairs = rows_ >= kRows;
  const std::int64_t most = in_pairs ? kRows : kFftLines;
  const std::int64_t rows = in_pairs ? rows_ : std::int64_t(rows_) * batch_;
  const std::int64_t groups = (rows + most - 1) / most;
  for_groups(int(in_pairs ? groups * batch_ : groups), threads_worth(), row_,
             [&](Arrays& arrays, int index) {
               const std::int64_t first = index % groups * most;
               f(arrays, index / groups * rows + first, int(std::min(most, rows - first)));
             });
}

void Fft::forward(const float* samples, Complex* spectra) const {
  for_row_groups([&](Arrays& arrays, std::int64_t first, int rows) {
    float* const lines = arrays.one.get();
    const float* const from = samples + first * columns_;
    lines_from_rows(from, columns_, rows, columns_, 0, lines);
    lines_from_rows(from + std::ptrdiff_t(kFftLines) * columns_, columns_, rows - kFftLines,
                    columns_, kFftPart, lines);
    split_spectra(row_.run(lines, arrays.other.get()), columns_, rows, spectra + first * half());
  });
  transform_columns(spectra, false);
}

void Fft::inverse(Complex* spectra, float* samples) const {
  transform_columns(spectra, true);
  for_row_groups([&](Arrays& arrays, std::int64_t first, int rows) {
    join_spectra(spectra + first * half(), rows, columns_, arrays.one.get());
    const float* const lines = row_.run(arrays.one.get(), arrays.other.get());
    float* const to = samples + first * columns_;
    rows_from_lines(lines, kFftPart, columns_, std::min(rows, kFftLines), columns_, to);
    rows_from_lines(lines, 0, columns_, rows - kFftLines, columns_,
                    to + std::ptrdiff_t(kFftLines) * columns_);
  });
}

// A forward transform of numbers whose parts are swapped is the inverse, swapped as well.
void Fft::transform_columns(Complex* spectra, bool inverse) const {
  if (rows_ == 1) return;
  const int groups = (half() + kFftLines - 1) / kFftLines;
  for_groups(batch_ * groups, threads_worth(), column_, [&](Arrays& arrays, int index) {
    const int first = index % groups * kFftLines;
    const int columns = std::min(kFftLines, half() - first);
    Complex* const numbers = spectra + std::ptrdiff_t(index / groups) * half() * rows_ + first;
    lines_from_columns(numbers, half(), columns, rows_, inverse, arrays.one.get());
    columns_from_lines(column_.run(arrays.one.get(), arrays.other.get()), inverse, rows_, columns,
                       half(), numbers);
  });
}

}  // namespace convfilt::cpu
