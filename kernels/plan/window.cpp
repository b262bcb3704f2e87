#include "kernels/plan/window.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/dispatch.hpp"

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

  std::vector<std::byte> ghost_row(staging.pitch);
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    const T ghost = ghost_sample<T>(p);
    for (std::size_t at = 0; at < ghost_row.size(); at += sizeof(T)) {
      std::memcpy(&ghost_row[at], &ghost, sizeof(T));
    }
  });
  const int left = window.x - p.lead_x(), top = window.y - p.lead_y();
  const int inner_begin = std::clamp(-left, 0, staging.width);
  const int inner_end = std::clamp(p.width - left, inner_begin, staging.width);
  for (int row = 0; row < staging.height; ++row) {
    std::byte* to = staging.bytes.data() + row * staging.pitch;
    const int y = border_index(p.border, top + row, p.height);
    if (y < 0) {
      std::memcpy(to, ghost_row.data(), ghost_row.size());
      continue;
    }
    const std::byte* from = in.row(y);
    const auto made_up = [&](int col) {
      const int x = border_index(p.border, left + col, p.width);
      std::memcpy(to + col * pixel, x < 0 ? ghost_row.data() : from + x * pixel, pixel);
    };
    for (int col = 0; col < inner_begin; ++col) made_up(col);
    if (inner_end > inner_begin) {
      std::memcpy(to + inner_begin * pixel, from + (left + inner_begin) * pixel,
                  (inner_end - inner_begin) * pixel);
    }
    for (int col = inner_end; col < staging.width; ++col) made_up(col);
  }
}

}  // namespace convfilt
