/// Pictures in memory through a filter: as a whole, or in bands.
#pragma once

#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "src/filter/bands.hpp"
#include "src/filter/edge.hpp"
#include "src/filter/mask.hpp"

namespace convfilt::testing {

/// The picture as the only band, whatever the strategy.
inline Image filtered_whole(const Image& in, const Filter& filter, Convolver& convolver,
                            const Metadata* metadata = nullptr) {
  convolver.check_border_value(in.depth());
  const auto work = filter.begin(shape_of(in), {convolver, convolver.options().border_value, 1,
                                                in.depth(), metadata, "the test filters it so"});
  Image out(work->out.width, work->out.height, work->out.channels, work->out.depth);
  work->make_worker()->push(in.view(), out.view());
  return out;
}

/// The picture in bands. `rows_of_band(left)` says how many rows the next band has, of those that
/// are left.
template <class RowsOfBand>
Image filtered_in_bands(const Image& in, const Work& work, const RowsOfBand& rows_of_band) {
  int next = 0;
  BandCutter cutter(work);
  Image out(work.out.width, work.out.height, work.out.channels, work.out.depth);
  const auto worker = work.make_worker();
  for (int first = 0; first < out.height();) {
    const int rows = rows_of_band(out.height() - first);
    const BandView<std::byte> part(out.part(0, first, out.width(), rows).view(), first);
    if (work.wraps()) {
      worker->push(in.view(), part);
    } else {
      const PictureBand band = cutter.next(first, rows, [&](PictureView<std::byte> wanted) {
        for (int y = 0; y < wanted.height; ++y)
          std::memcpy(wanted.row(y), in.view().row(next++), in.row_bytes());
      });
      worker->push(band.view(), part);
    }
    first += rows;
  }
  if (next != in.height() && !work.wraps())
    throw std::logic_error("rows are left, which nobody has checked");
  return out;
}

/// In bands of `step` rows, the last of them longer.
inline Image filtered_in_bands(const Image& in, const Work& work, int step) {
  return filtered_in_bands(in, work, [&](int left) { return left < 2 * step ? left : step; });
}

/// As the program filters it.
inline Image filtered(const Image& in, const Filter& filter, Convolver& convolver,
                      const Metadata* metadata = nullptr) {
  const auto work = begin(filter, shape_of(in), convolver, metadata);
  return work->is_whole() ? filtered_whole(in, filter, convolver, metadata)
                          : filtered_in_bands(in, *work, work->out.height);
}

inline Image convolve(Convolver& convolver, const Image& in, const Mask& mask) {
  return filtered_whole(in, *mask_filter(mask), convolver);
}
inline Image convolve(Convolver&& convolver, const Image& in, const Mask& mask) {
  return convolve(convolver, in, mask);
}

/// Edges of each channel.
inline FilterPtr channel_edges(std::vector<Mask> masks) {
  EdgeOptions options;
  options.color = true;
  return edge_filter(std::move(masks), options);
}

/// The masks of a method without a Gaussian; weights of textbooks' masks are whole.
inline std::vector<Mask> plain_masks(EdgeMethod method,
                                     EdgeDirection direction = EdgeDirection::both) {
  EdgeMasks masks{method, direction, 0, 4};
  if (method == EdgeMethod::scharr) masks.gain = 16;
  if (method == EdgeMethod::prewitt) masks.gain = 3;
  if (method == EdgeMethod::laplacian) masks.gain = 1;
  if (method == EdgeMethod::log || method == EdgeMethod::dog) masks.sigma = 1.4;
  return edge_masks(masks);
}

inline Image find_edges(const Image& in, const std::vector<Mask>& masks, Convolver& convolver) {
  return filtered_whole(in, *channel_edges(masks), convolver);
}

}  // namespace convfilt::testing
