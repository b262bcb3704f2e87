/// How a strip of tensor_colour.cu writes its rows.
#pragma once

#include "kernels/tensor/warpgroup/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Where a thread writes its pieces of 16 bytes, kPieces of a row, 512 bytes apart. A row's last
/// piece may end in its padding.
template <int kPieces>
class ColourPieces {
 public:
  /// From byte `from` of `row` on; bytes before `own` are another strip's.
  CONVFILT_DEVICE ColourPieces(const PlaneView<uint8_t>& out, int row, int from, int own)
      : at_(out.row(row) + from), stride_(out.stride) {
    CONVFILT_UNROLL(kPieces)
    for (int k = 0; k < kPieces; ++k) {
      own_[k] = from + kApart * k >= own && from + kApart * k < out.width;
    }
  }
  CONVFILT_DEVICE void write(SharedWords words, int lane) const {
    CONVFILT_UNROLL(kPieces)
    for (int k = 0; k < kPieces; ++k) {
      const auto four = words.template get4<uint32_t>(4 * lane + kApart / 4 * k);
      if (own_[k]) *reinterpret_cast<Four<uint32_t>*>(at_ + kApart * k) = four;
    }
  }
  CONVFILT_DEVICE void go_down(int rows) { at_ += rows * stride_; }

 private:
  static constexpr int kApart = 32 * kChunk;

  uint8_t* at_;
  std::ptrdiff_t stride_;
  bool own_[kPieces];
};

}  // namespace convfilt::CONVFILT_BACKEND
