#include "kernels/plan/window.hpp"

#include <algorithm>

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/source_rows.hpp"

namespace convfilt {

std::vector<Window> cut(const Problem& problem, const Window& size) {
  std::vector<Window> windows;
  for (int y = 0; y < problem.out_height(); y += size.height) {
    for (int x = 0; x < problem.out_width(); x += size.width) {
      windows.push_back({x, y, std::min(size.width, problem.out_width() - x),
                         std::min(size.height, problem.out_height() - y)});
    }
  }
  return windows;
}

void gather_with_halo(const Problem& p, PictureView<const std::byte> in, const Window& window,
                      Staging& staging) {
  const std::size_t pixel = size_of(p.depth) * p.channels;
  staging.width = window.width + p.mask.width - 1;
  staging.height = window.height + p.mask.height - 1;
  staging.channels = p.channels;
  staging.pitch = std::ptrdiff_t(staging.width * pixel);
  staging.bytes.resize(staging.pitch * std::size_t(staging.height));

  const int left = p.lead_x(), top = window.y - p.lead_y();
  with_depth(p.depth, [&]<class T>(TypeTag<T>) {
    const SourceRows<T> source(p, left, p.mask.width - 1 - left);
    for (int row = 0; row < staging.height; ++row) {
      T* const to = reinterpret_cast<T*>(staging.bytes.data() + row * staging.pitch);
      const T* const from = source.row(in, window.x, window.x + window.width, top + row, to);
      if (from != to) std::copy_n(from, source.length(window.width), to);
    }
  });
}

}  // namespace convfilt
