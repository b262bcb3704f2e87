/// Loops over the rows of a picture, on all cores where they may.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/plan.hpp"

namespace convfilt {

/// Calls body(y) once for each row of such a picture, in any order; rows must not depend on each
/// other. `threads` 0 = all cores; a small picture gets fewer.
template <class Byte, class Body>
void for_rows(PictureView<Byte> picture, int threads, const Body& body) {
  constexpr int kBlock = 16;  // rows that a thread takes at once
  // A conversion, division or root costs about as much as this many multiply-adds.
  constexpr std::int64_t kCostPerSample = 8;
  const int height = picture.height;
  const std::int64_t samples = std::int64_t{picture.width} * height * picture.channels;
  if (threads != 1) threads = cpu::threads_for(samples * kCostPerSample, threads);
  if (threads == 1) {
    for (int y = 0; y < height; ++y) body(y);
    return;
  }
  cpu::parallel_for((height - 1) / kBlock + 1, threads, [&](int, int index) {
    // The bound is a difference, because index * kBlock + kBlock may not fit.
    const int first = index * kBlock;
    for (int y = first; y < first + std::min(kBlock, height - first); ++y) body(y);
  });
}

}  // namespace convfilt
