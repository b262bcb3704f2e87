#include "src/filter/bands.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/contract/border.hpp"
#include "kernels/contract/dispatch.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {

BandCutter::BandCutter(const Work& work, const Image* picture) : work_(work), picture_(picture) {}

template <class T>
auto BandCutter::ghost_of() const {
  return [ghost = to_sample<T>(work_.border_value), channels = work_.in.channels,
          full = T(full_range(work_.in.depth))](T* pixel) {
    std::fill_n(pixel, channels, ghost);
    if (channels == 4) pixel[3] = full;
  };
}

void BandCutter::fill_sides(std::byte* row) const {
  const Shape& in = work_.in;
  const Window& window = work_.window;
  with_depth(in.depth, [&]<class T>(TypeTag<T>) {
    T* const samples = reinterpret_cast<T*>(row) + std::ptrdiff_t(window.lead_x) * in.channels;
    const auto fill_ghost = ghost_of<T>();
    const auto fill = [&](int x) {
      const int from = border_index(work_.border, x, in.width);
      T* const to = samples + std::ptrdiff_t(x) * in.channels;
      if (from < 0)
        fill_ghost(to);
      else
        std::copy_n(samples + std::ptrdiff_t(from) * in.channels, in.channels, to);
    };
    for (int x = -window.lead_x; x < 0; ++x) fill(x);
    for (int x = in.width; x < work_.out.width + window.width - 1 - window.lead_x; ++x) fill(x);
  });
}

PictureView<std::byte> BandCutter::begin(int first, int rows) {
  const Shape& in = work_.in;
  const Window& window = work_.window;
  const Image before = std::exchange(band_, Image(work_.out.width + window.width - 1,
                                                  rows + window.height - 1, in.channels, in.depth));
  const int top_before = std::exchange(top_, first - window.lead_y);
  const PictureView<std::byte> view = band_.view();
  const int begin = std::max(0, top_), end = std::min(in.height, top_ + view.height);
  // Rows that the band before has are copied with their sides.
  fresh_ = std::max(begin, next_row_);
  for (int y = begin; y < std::min(end, next_row_); ++y)
    std::memcpy(view.row(y - top_), before.view().row(y - top_before), band_.row_bytes());
  PictureView<std::byte> fresh = view;
  fresh.data = view.row(fresh_ - top_) +
               std::size_t(window.lead_x) * std::size_t(in.channels) * size_of(in.depth);
  fresh.width = in.width;
  fresh.height = std::max(0, end - fresh_);
  next_row_ = fresh_ + fresh.height;
  return fresh;
}

Image BandCutter::end() {
  const Shape& in = work_.in;
  const PictureView<std::byte> view = band_.view();
  const int begin = std::max(0, top_), end = std::min(in.height, top_ + view.height);
  for (int y = fresh_; y < end; ++y) fill_sides(view.row(y - top_));
  for (int y = top_; y < top_ + view.height; ++y) {
    if (y >= begin && y < end) continue;
    const int source = border_index(work_.border, y, in.height);
    std::byte* const row = view.row(y - top_);
    if (source >= begin && source < end) {
      std::memcpy(row, view.row(source - top_), band_.row_bytes());
    } else if (source >= 0) {
      const std::size_t pixel = std::size_t(in.channels) * size_of(in.depth);
      std::memcpy(row + std::size_t(work_.window.lead_x) * pixel, picture_->view().row(source),
                  picture_->row_bytes());
      fill_sides(row);
    } else {
      with_depth(in.depth, [&]<class T>(TypeTag<T>) {
        const auto fill_ghost = ghost_of<T>();
        for (int x = 0; x < view.width; ++x)
          fill_ghost(reinterpret_cast<T*>(row) + std::ptrdiff_t(x) * in.channels);
      });
    }
  }
  return band_.part(0, 0, view.width, view.height);
}

int band_rows(const Work& work, int writer_step, std::size_t wanted_bytes) {
  const std::size_t row_bytes = std::size_t(work.out.width + work.window.width - 1) *
                                std::size_t(work.in.channels) * size_of(work.in.depth);
  const std::int64_t step = writer_step;
  // A band's rows beyond its own cost as much as its own.
  const std::int64_t rows = std::max<std::int64_t>(
      {std::int64_t(wanted_bytes / row_bytes), std::int64_t(work.window.height) * 2, 1});
  return int(std::min<std::int64_t>((rows + step - 1) / step * step, work.out.height));
}

}  // namespace convfilt
