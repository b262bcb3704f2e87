/// The CPU's Fourier transforms against sums written out.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "kernels/backend/host/fft.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

using Number = std::complex<double>;

/// Transforms one line, whose neighbours are `step` elements apart.
void transform_line(std::vector<Number>& values, std::size_t first, std::size_t step, int n) {
  std::vector<Number> line(n);
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i) {
      const double turn = double(std::int64_t(i) * k % n) / n;
      line[k] += values[first + i * step] * std::polar(1.0, -2 * std::numbers::pi * turn);
    }
  }
  for (int k = 0; k < n; ++k) values[first + k * step] = line[k];
}

/// The whole spectrum of rows x columns samples.
std::vector<Number> naive_spectrum(const float* samples, int columns, int rows) {
  std::vector<Number> values(samples, samples + std::size_t(columns) * rows);
  for (int y = 0; y < rows; ++y) transform_line(values, std::size_t(y) * columns, 1, columns);
  for (int x = 0; x < columns; ++x) transform_line(values, x, columns, rows);
  return values;
}

void check_fft(int columns, int rows, int batch, int threads) {
  INFO(batch << " of " << columns << " x " << rows << ", threads " << threads);
  const std::size_t samples = std::size_t(columns) * rows;
  const std::size_t half = std::size_t(columns) / 2 + 1;
  std::vector<float> in(samples * batch);
  Random random(columns * 31 + rows);
  for (float& value : in) value = float(random.real(-1, 1));
  std::vector<Complex> spectra(half * rows * batch);
  const cpu::Fft fft(columns, rows, batch, threads);
  fft.forward(in.data(), spectra.data());

  // Rounding errors grow with the root of the energy, and slowly with the size.
  const double allowed = 1e-6 * std::sqrt(double(samples));
  double furthest = 0;
  for (int b = 0; b < batch; ++b) {
    const auto expected = naive_spectrum(in.data() + b * samples, columns, rows);
    for (int y = 0; y < rows; ++y) {
      for (std::size_t x = 0; x < half; ++x) {
        const Complex is = spectra[(std::size_t(b) * rows + y) * half + x];
        furthest = std::max(furthest, std::abs(Number(is.x, is.y) - expected[y * columns + x]));
      }
    }
  }
  CHECK(furthest <= allowed);

  std::vector<float> back(in.size());
  fft.inverse(spectra.data(), back.data());
  furthest = 0;
  for (std::size_t k = 0; k < in.size(); ++k) {
    furthest = std::max(furthest, std::abs(double(back[k]) / double(samples) - in[k]));
  }
  CHECK(furthest <= 1e-6);
}

}  // namespace

TEST_CASE("transforms there and back, of powers of two and odd factors") {
  check_fft(2, 1, 1, 1);
  check_fft(2, 2, 3, 1);
  check_fft(4, 3, 2, 1);
  check_fft(64, 64, 1, 1);
  check_fft(30, 21, 5, 2);
  check_fft(70, 1, 9, 2);
  check_fft(2, 105, 4, 2);
  check_fft(34, 7, 3, 2);   // 17 is no factor of a good size
  check_fft(36, 45, 1, 0);  // more columns than a group of them, and not whole groups
}

TEST_CASE("more rows than a group of them, on several threads") {
  check_fft(512, 200, 2, 2);
}

TEST_CASE("good sizes are the next even products of 2, 3, 5 and 7") {
  CHECK(good_fft_size(1) == 2);
  CHECK(good_fft_size(2) == 2);
  CHECK(good_fft_size(11) == 12);
  CHECK(good_fft_size(13) == 14);
  CHECK(good_fft_size(21) == 24);
  CHECK(good_fft_size(121) == 126);
  CHECK(good_fft_size(4097) == 4116);
  for (int n = 1; n < 3000; ++n) {
    const int size = good_fft_size(n);
    CHECK((size >= n && size % 2 == 0 && size <= n + n / 7 + 4));
  }
}

}  // namespace convfilt::test
