#include "kernels/plan/contrast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/contract/ceil_div.hpp"

namespace convfilt {
namespace {

/// Sums over a picture of larger samples may overflow.
constexpr float kLargest = 1e30f;

/// The side of cells of which each place of the mask has a whole one inside the picture.
int cell_side(Mode mode, int anchor, int side, int samples) {
  const int inside = mode == Mode::same    ? std::min(anchor + 1, side - anchor)
                     : mode == Mode::valid ? side
                                           : 1;
  return (std::min(inside, samples) + 1) / 2;
}

/// Magnitudes of floats have the order of their bits.
struct Reach {
  std::int32_t largest = 0, least = std::numeric_limits<std::int32_t>::max();
};

}  // namespace

double contrast_of(const Problem& problem, PictureView<const std::byte> picture, int threads) {
  const int columns =
      cell_side(problem.mode, problem.mask.anchor_x, problem.mask.width, picture.width);
  const int rows =
      cell_side(problem.mode, problem.mask.anchor_y, problem.mask.height, picture.height);
  const int channels = picture.channels, bands = ceil_div(picture.height, rows);
  const std::ptrdiff_t samples = std::ptrdiff_t(picture.width) * channels;
  std::vector<Reach> reaches(std::size_t(bands), Reach{});
  cpu::parallel_for(bands, cpu::threads_for(samples * picture.height, threads), [&](int, int band) {
    static thread_local std::vector<std::int32_t> most;
    most.assign(std::size_t(samples), 0);
    for (int y = band * rows; y < std::min((band + 1) * rows, picture.height); ++y) {
      const auto* row = reinterpret_cast<const std::int32_t*>(picture.row(y));
      for (std::ptrdiff_t x = 0; x < samples; ++x)
        most[std::size_t(x)] = std::max(most[std::size_t(x)], row[x] & 0x7fffffff);
    }
    Reach& reach = reaches[std::size_t(band)];
    const std::ptrdiff_t step = std::ptrdiff_t(columns) * channels;
    for (std::ptrdiff_t first = 0; first < samples; first += step) {
      for (int c = 0; c < channels; ++c) {
        std::int32_t cell = 0;
        for (auto x = first + c; x < std::min(first + step, samples); x += channels)
          cell = std::max(cell, most[std::size_t(x)]);
        reach.largest = std::max(reach.largest, cell);
        reach.least = std::min(reach.least, cell);
      }
    }
  });
  Reach all;
  if (problem.border == Border::constant)
    all.largest = std::bit_cast<std::int32_t>(float(std::abs(problem.border_value)));
  for (const Reach& reach : reaches) {
    all.largest = std::max(all.largest, reach.largest);
    all.least = std::min(all.least, reach.least);
  }
  const auto largest = std::bit_cast<float>(all.largest), least = std::bit_cast<float>(all.least);
  if (largest == 0) return 1;
  if (!(largest <= kLargest) || least == 0) return std::numeric_limits<double>::infinity();
  return std::exp2(std::ceil(std::log2(double(largest) / least)));
}

}  // namespace convfilt
