/// Bands: some rows of a picture, for plans that need not have it as a whole.
#pragma once

#include <cstddef>
#include <type_traits>

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

/// A plan of the CPU that takes bands, too.
class BandPlan : public Plan {
 public:
  /// Makes some rows of the problem's result. `in` has the rows that they need: those under the
  /// mask, or which the border puts in place of those.
  virtual Timing run_band(BandView<const std::byte> in, BandView<std::byte> out) = 0;

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) final {
    return run_band(in, out);
  }
};

}  // namespace convfilt
