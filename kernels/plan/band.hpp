/// Bands: some rows of a picture, for plans that need not have it as a whole.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <type_traits>

#include "kernels/contract/border.hpp"
#include "kernels/plan.hpp"

namespace convfilt {

/// Rows of a picture from its row `top` on.
template <class Byte>
struct BandView : PictureView<Byte> {
  int top = 0;

  BandView() = default;
  BandView(PictureView<Byte> rows, int first = 0) : PictureView<Byte>(rows), top(first) {}

  template <class B = Byte>
  requires(!std::is_const_v<B>) operator BandView<const B>() const { return {*this, top}; }
};

/// Rows of a band, from its row `first` on.
template <class Byte>
BandView<Byte> rows_of(BandView<Byte> band, int first, int rows) {
  band.data = band.row(first);
  band.height = rows;
  band.top += first;
  return band;
}

/// The row of the band that has the picture's row y, or that stands in for it where y lies outside
/// the picture; -1 for the border value. Where the band has neither, any of its rows.
template <class Byte>
int row_index(const BandView<Byte>& band, int y, Border border, int picture_height) {
  if (y >= band.top && y < band.top + band.height) return y - band.top;
  const int source = border_index(border, y, picture_height);
  return source < 0 ? -1 : std::clamp(source - band.top, 0, band.height - 1);
}

/// Makes bands of a result, one at a time.
class Worker {
 public:
  virtual ~Worker() = default;

  /// Makes the rows of `out`. `in` is the picture, or a band of it that has the rows which those
  /// need: the rows under the mask, or which the border puts in their place.
  virtual void push(BandView<const std::byte> in, BandView<std::byte> out) = 0;
};

/// A plan of the CPU that takes bands, too.
class BandPlan : public Plan, public Worker {
 public:
  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) final {
    const auto start = std::chrono::steady_clock::now();
    push(in, out);
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    Timing timing;
    timing.kernel_ms = spent.count();
    return timing;
  }
};

}  // namespace convfilt
