#include "src/filter/bands.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/contract/border.hpp"
#include "kernels/contract/dispatch.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {

Shape shape_of(const Image& image) {
  return {image.width(), image.height(), image.channels(), image.depth()};
}

std::int64_t bytes_of(const Shape& shape) {
  return std::int64_t{shape.width} * shape.height * shape.channels *
         std::int64_t(size_of(shape.depth));
}

Window window_of(const Problem& problem) {
  return {problem.mask.width, problem.mask.height, problem.lead_x(), problem.lead_y()};
}

BandFilter::BandFilter(const Problem& whole)
    : in{whole.width, whole.height, whole.channels, whole.depth},
      out{whole.out_width(), whole.out_height(), whole.channels, whole.depth},
      window(window_of(whole)),
      border(whole.border),
      border_value(whole.border_value) {}

Plan& BandPlans::for_rows(int rows) {
  const auto found = std::find_if(plans_.begin(), plans_.end(),
                                  [rows](const Sized& sized) { return sized.rows == rows; });
  if (found != plans_.end()) return *found->plan;
  Problem band = whole_;
  band.mode = Mode::valid;
  band.border = Border::replicate;
  band.width = whole_.out_width() + whole_.mask.width - 1;
  band.height = rows + whole_.mask.height - 1;
  constexpr std::size_t kMostPlans = 4;  // most bands have one height, and the last another
  if (plans_.size() == kMostPlans) plans_.erase(plans_.begin());
  plans_.push_back({rows, strategy_->prepare(band, DeviceKind::cpu, how_)});
  return *plans_.back().plan;
}

std::string bands_refuse(Border border, const Window& window) {
  if (border == Border::wrap && window.height > 1)
    return "with --border=wrap the first rows need the last";
  return "";
}

BandCutter::BandCutter(const BandFilter& filter, std::function<void(PictureView<std::byte>)> read)
    : in_(filter.in),
      out_(filter.out),
      window_(filter.window),
      border_(filter.border),
      border_value_(filter.border_value),
      read_(std::move(read)) {}

template <class T>
auto BandCutter::ghost_of() const {
  return [ghost = to_sample<T>(border_value_), channels = in_.channels,
          full = T(full_range(in_.depth))](T* pixel) {
    std::fill_n(pixel, channels, ghost);
    if (channels == 4) pixel[3] = full;
  };
}

void BandCutter::fill_sides(std::byte* row) const {
  with_depth(in_.depth, [&]<class T>(TypeTag<T>) {
    T* const samples = reinterpret_cast<T*>(row) + std::ptrdiff_t(window_.lead_x) * in_.channels;
    const auto fill_ghost = ghost_of<T>();
    const auto fill = [&](int x) {
      const int from = border_index(border_, x, in_.width);
      T* const to = samples + std::ptrdiff_t(x) * in_.channels;
      if (from < 0)
        fill_ghost(to);
      else
        std::copy_n(samples + std::ptrdiff_t(from) * in_.channels, in_.channels, to);
    };
    for (int x = -window_.lead_x; x < 0; ++x) fill(x);
    for (int x = in_.width; x < out_.width + window_.width - 1 - window_.lead_x; ++x) fill(x);
  });
}

Image BandCutter::next(int first, int rows) {
  const int width = out_.width + window_.width - 1, height = rows + window_.height - 1;
  Image band(width, height, in_.channels, in_.depth);
  const PictureView<std::byte> view = band.view();
  const std::size_t row_bytes = band.row_bytes();
  const int top = first - window_.lead_y;  // the picture's row in the band's first
  const int begin = std::max(0, top), end = std::min(in_.height, top + height);

  // Rows that the band before has are copied with their sides.
  const int kept = std::min(end, next_row_);
  for (int y = begin; y < kept; ++y)
    std::memcpy(view.row(y - top), std::as_const(latest_).view().row(y - latest_first_), row_bytes);
  const int from = std::max(begin, kept);
  if (from < end) {
    PictureView<std::byte> fresh = view;
    const std::size_t pixel = std::size_t(in_.channels) * size_of(in_.depth);
    fresh.data = view.row(from - top) + std::size_t(window_.lead_x) * pixel;
    fresh.width = in_.width;
    fresh.height = end - from;
    read_(fresh);
    next_row_ = end;
    for (int y = from; y < end; ++y) fill_sides(view.row(y - top));
  }

  for (int y = top; y < top + height; ++y) {
    if (y >= begin && y < end) continue;
    const int source = border_index(border_, y, in_.height);
    if (source >= 0) {
      std::memcpy(view.row(y - top), view.row(source - top), row_bytes);
      continue;
    }
    with_depth(in_.depth, [&]<class T>(TypeTag<T>) {
      const auto fill_ghost = ghost_of<T>();
      for (int x = 0; x < width; ++x)
        fill_ghost(row_of<T>(view, y - top) + std::ptrdiff_t(x) * in_.channels);
    });
  }
  latest_ = band.part(0, 0, width, height);
  latest_first_ = top;
  return band;
}

int band_rows(const BandFilter& filter, int writer_step, std::size_t wanted_bytes) {
  const std::size_t row_bytes = std::size_t(filter.out.width + filter.window.width - 1) *
                                std::size_t(filter.in.channels) * size_of(filter.in.depth);
  const std::int64_t step = writer_step;
  // A band's rows beyond its own cost as much as its own.
  const std::int64_t rows = std::max<std::int64_t>(
      {std::int64_t(wanted_bytes / row_bytes), std::int64_t(filter.window.height) * 2, 1});
  return int(std::min<std::int64_t>((rows + step - 1) / step * step, filter.out.height));
}

}  // namespace convfilt
