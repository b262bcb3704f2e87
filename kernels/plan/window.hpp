/// Pictures in pieces: windows of the output, each with a halo whose ghost cells are filled in.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/contract/plane_view.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// A rectangle of output pixels.
struct Window {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Windows of at most `size`, row by row, that cover the problem's outputs once.
std::vector<Window> cut(const Problem& problem, const Window& size);

/// A window of the input with its halo in host memory.
struct Staging {
  std::vector<std::byte> bytes;
  int width = 0, height = 0, channels = 1;
  std::ptrdiff_t pitch = 0;

  PictureView<const std::byte> view() const {
    return {bytes.data(), width, height, channels, pitch};
  }
};

/// Copies the input samples that the window's outputs need, which are width + mask.width - 1 by
/// height + mask.height - 1 pixels, and fills in ghost cells. Output (x, y) of the window then sums
/// the samples from (x, y) on.
void gather_with_halo(const Problem& problem, PictureView<const std::byte> in, const Window& window,
                      Staging& staging);

}  // namespace convfilt
