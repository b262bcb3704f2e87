#include "kernels/cpu/tiles.hpp"

#include <algorithm>

namespace convfilt::cpu {
namespace {

constexpr std::int64_t kSecondCache = 768 << 10;  // most of a second-level cache of 1 MB or 2 MB
constexpr int kLeastPixels = 256;  // narrower tiles spend too much on each row and tile
constexpr int kPixelStep = 64;     // pixels make whole vectors of any kind and number of channels

// Several tiles a thread keep the other cores busy where one is slower, or has other work.
constexpr int kTilesPerThread = 8;

int ceil_div(std::int64_t a, std::int64_t b) {
  return int((a + b - 1) / b);
}

}  // namespace

std::vector<Tile> cut_in_tiles(const Problem& problem, const TileCost& cost, int threads) {
  std::int64_t pixels = (cost.cache_bytes - cost.fixed_bytes) / cost.bytes_per_pixel;
  if (pixels < kLeastPixels) {
    pixels = std::min<std::int64_t>((kSecondCache - cost.fixed_bytes) / cost.bytes_per_pixel,
                                    kLeastPixels);
  }
  // Long rows are faster, so the picture is cut into bands first. Strips become narrower where
  // bands alone do not give every core its share.
  const int wanted = threads == 1 ? 1 : kTilesPerThread * threads;
  const int most_bands = std::max(1, problem.out_height() / std::max(1, cost.least_rows));
  const int least_strips = ceil_div(wanted, most_bands);
  pixels =
      std::min<std::int64_t>(pixels, std::max(kLeastPixels, problem.out_width() / least_strips));
  pixels = std::max<std::int64_t>(pixels / kPixelStep, 1) * kPixelStep;
  const int strips = ceil_div(problem.out_width(), pixels);
  const int bands = std::clamp(ceil_div(wanted, strips), 1, most_bands);

  std::vector<Tile> tiles;
  for (int band = 0; band < bands; ++band) {
    const int y0 = int(std::int64_t(problem.out_height()) * band / bands);
    const int y1 = int(std::int64_t(problem.out_height()) * (band + 1) / bands);
    for (std::int64_t x0 = 0; x0 < problem.out_width(); x0 += pixels) {
      tiles.push_back(
          {int(x0), int(std::min<std::int64_t>(x0 + pixels, problem.out_width())), y0, y1});
    }
  }
  return tiles;
}

int widest(const std::vector<Tile>& tiles) {
  int pixels = 0;
  for (const Tile& tile : tiles) pixels = std::max(pixels, tile.x1 - tile.x0);
  return pixels;
}

}  // namespace convfilt::cpu
