/// Loops over the rows of a picture, on all cores where they may.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/backend/host/parallel.hpp"
#include "src/filter/filter.hpp"

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

/// Makes of the picture, in `made`, what `out` needs, with that many channels of that depth. `body`
/// makes a row of another. The result is a band whose first and last rows may stand in for rows
/// beyond the picture's ends.
template <class Body>
BandView<const std::byte> converted(const Work& work, BandView<const std::byte> in,
                                    BandView<std::byte> out, int threads, int channels, Depth depth,
                                    Image& made, const Body& body) {
  int first = 0, end = work.in.height;
  if (!work.is_whole()) {
    first = out.top - work.window.lead_y;
    end = first + out.height + work.window.height - 1;
    if (work.border == Border::constant) {
      first = std::max(first, 0);
      end = std::min(end, work.in.height);
    }
  }
  if (made.width() != in.width || made.height() != end - first || made.channels() != channels)
    made = Image(in.width, end - first, channels, depth);
  const BandView<std::byte> view(made.view(), first);
  for_rows(view, threads, [&](int y) {
    body(in.row(row_index(in, first + y, work.border, work.in.height)), view.row(y));
  });
  return view;
}

}  // namespace convfilt
