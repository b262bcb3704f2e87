#include "src/mask/response.hpp"

#include <complex>
#include <numbers>
#include <stdexcept>

namespace convfilt {
namespace {

using Complex = std::complex<double>;

/// exp(2 pi i f k) for k from 0 to count - 1.
std::vector<Complex> wave(double frequency, int count) {
  std::vector<Complex> values;
  for (int k = 0; k < count; ++k)
    values.push_back(std::polar(1.0, 2 * std::numbers::pi * frequency * k));
  return values;
}

/// Rows first, for each u, then columns, for each v: magnitudes, row by row.
std::vector<double> responses(const Mask& mask, const std::vector<double>& us,
                              const std::vector<double>& vs) {
  std::vector<Complex> rows(us.size() * std::size_t(mask.height));  // by row of the mask, then u
  for (std::size_t k = 0; k < us.size(); ++k) {
    const std::vector<Complex> along = wave(us[k], mask.width);
    for (int j = 0; j < mask.height; ++j)
      for (int i = 0; i < mask.width; ++i)
        rows[std::size_t(j) * us.size() + k] +=
            mask.weight(i, j) / mask.divisor * along[std::size_t(i)];
  }
  std::vector<double> magnitudes;
  for (const double v : vs) {
    const std::vector<Complex> down = wave(v, mask.height);
    for (std::size_t k = 0; k < us.size(); ++k) {
      Complex sum = 0;
      for (std::size_t j = 0; j < down.size(); ++j) sum += rows[j * us.size() + k] * down[j];
      magnitudes.push_back(std::abs(sum));
    }
  }
  return magnitudes;
}

}  // namespace

double response_at(const Mask& mask, double u, double v) {
  return responses(mask, {u}, {v}).front();
}

std::vector<double> response_grid(const Mask& mask, int side) {
  if (side < 3 || side % 2 == 0) throw std::invalid_argument("a grid has an odd side of 3 or more");
  std::vector<double> frequencies;
  for (int k = 0; k < side; ++k) frequencies.push_back(double(k) / (side - 1) - 0.5);
  return responses(mask, frequencies, frequencies);
}

}  // namespace convfilt
