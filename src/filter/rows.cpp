#include "src/filter/rows.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/backend/host/parallel.hpp"

namespace convfilt {
namespace {

/// Rows that a thread takes at once.
constexpr int kBlock = 16;

/// A conversion, division or root costs about as much as this many multiply-adds.
constexpr std::int64_t kCostPerSample = 8;

}  // namespace

void for_rows(const Image& image, int threads, const std::function<void(int y)>& body) {
  const int height = image.height();
  const std::int64_t samples = std::int64_t(image.width()) * height * image.channels();
  const auto block = [&](int, int index) {
    // The bound is a difference, because index * kBlock + kBlock may not fit.
    const int first = index * kBlock;
    for (int y = first; y < first + std::min(kBlock, height - first); ++y) body(y);
  };
  const int blocks = (height - 1) / kBlock + 1;
  cpu::parallel_for(blocks, cpu::threads_for(samples * kCostPerSample, threads), block);
}

}  // namespace convfilt
