/// Loops over the rows of a picture. Cuts pictures into bands of rows, and makes bands of floats or
/// colours from bands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/backend/host/parallel.hpp"
#include "src/filter/filter.hpp"
#include "src/picture/sample_type.hpp"

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

/// Some rows of a picture.
struct PictureBand {
  Image rows;
  int top = 0;  ///< the picture's row in the first

  BandView<const std::byte> view() const { return {rows.view(), top}; }
};

/// Makes the input of bands from rows that come from top to bottom.
class BandCutter {
 public:
  /// The work's border must not wrap.
  explicit BandCutter(const Work& work) : work_(work) {}

  /// The input of rows first..first+rows-1 of the result. `read` gives the next rows of the
  /// picture, as many as the view has. Bands follow each other without gaps, and each but a
  /// picture's only one has at least as many rows as the window, since ghost cells repeat so many.
  template <class Read>
  PictureBand next(int first, int rows, const Read& read) {
    const int top = std::max(0, first - work_.window.lead_y);
    const int end =
        std::min(work_.in.height, first - work_.window.lead_y + rows + work_.window.height - 1);
    PictureBand band{Image(work_.in.width, end - top, work_.in.channels, work_.in.depth), top};
    const int kept = std::clamp(next_row_ - top, 0, end - top);
    const std::size_t row_bytes = band.rows.row_bytes();
    for (int y = 0; y < kept; ++y)
      std::memcpy(band.rows.view().row(y), latest_.view().row(top + y - latest_.top), row_bytes);
    if (top + kept < end) read(rows_of(BandView(band.rows.view()), kept, end - top - kept));
    next_row_ = std::max(next_row_, end);
    latest_ = {band.rows.part(0, 0, band.rows.width(), band.rows.height()), top};
    return band;
  }

 private:
  const Work& work_;
  int next_row_ = 0;    ///< the first that was not read yet
  PictureBand latest_;  ///< the band before
};

/// Rows of the bands into which a picture is cut: a multiple of the writer's step, and some
/// `wanted_bytes` of input.
inline int band_rows(const Work& work, int writer_step, std::size_t wanted_bytes) {
  const std::int64_t row_bytes = bytes_of({work.in.width, 1, work.in.channels, work.in.depth});
  const std::int64_t step = writer_step;
  // A band's rows beyond its own cost as much as its own.
  const std::int64_t rows = std::max<std::int64_t>(
      {std::int64_t(wanted_bytes) / row_bytes, std::int64_t(work.window.height) * 2, 1});
  return int(std::min<std::int64_t>((rows + step - 1) / step * step, work.out.height));
}

/// Rows of a band whose floats, so many for each row, stay in the second-level cache.
inline int rows_in_cache(const Work& work, std::ptrdiff_t floats_of_row) {
  constexpr std::ptrdiff_t kFloats = 1 << 18;
  return std::max({int(kFloats / floats_of_row), 2 * (work.window.height - 1), 8});
}

/// Room for rows from row `top` of a picture on, which `image` keeps for the next band.
inline BandView<std::byte> room_for(const Shape& rows, int top, Image& image) {
  if (image.width() != rows.width || image.height() < rows.height ||
      image.channels() != rows.channels) {
    image = {};  // never two at a time
    image = Image(rows.width, rows.height, rows.channels, rows.depth);
  }
  return rows_of(BandView(image.view(), top), 0, rows.height);
}

/// alpha = that of a picture with alpha, for each pixel of row y of the work's result. What lies
/// outside the picture is opaque.
template <class T>
void take_alpha(const Work& work, BandView<const std::byte> in, int y, std::vector<float>& alpha) {
  constexpr int kAlpha = 3, kPixel = 4;
  alpha.assign(std::size_t(work.out.width), float(full_range(work.in.depth)));
  y += work.offset_y;
  if (y < 0 || y >= work.in.height) return;
  const int left = work.offset_x;
  const T* from = row_of<T>(in, y - in.top) + kAlpha;
  for (int x = std::max(0, -left); x < std::min(work.out.width, in.width - left); ++x)
    alpha[std::size_t(x)] = float(from[std::ptrdiff_t(x + left) * kPixel]);
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
  const BandView<std::byte> view = room_for({in.width, end - first, channels, depth}, first, made);
  for_rows(view, threads, [&](int y) {
    body(in.row(row_index(in, first + y, work.border, work.in.height)), view.row(y));
  });
  return view;
}

}  // namespace convfilt
