/// How a strip of tensor_colour.cu writes its rows.
#pragma once

#include "group_sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The first of 16 bytes; none where `count` is not above 0. Called, since few threads need it.
CONVFILT_CALLED inline void write_bytes(SharedWords words, uint8_t* to, int count) {
  CONVFILT_UNROLL(1)
  for (int k = 0; k < count; ++k) {
    to[k] = uint8_t(words.template get<uint32_t>(k / 4) >> (k % 4 * 8));
  }
}

/// Where a thread writes its pieces of 16 bytes, kPieces of a row, 512 bytes apart.
template <int kPieces>
class ColourPieces {
 public:
  /// From byte `from` of `row` on; bytes before `own` are another strip's.
  CONVFILT_DEVICE ColourPieces(const PlaneView<uint8_t>& out, int row, int from, int own)
      : at_(out.row(row) + from), stride_(out.stride), left_(out.width - from) {
    CONVFILT_UNROLL(kPieces)
    for (int k = 0; k < kPieces; ++k) {
      own_[k] = from + kApart * k >= own;
      whole_[k] = own_[k] && left_ - kApart * k >= kChunk;
    }
  }
  CONVFILT_DEVICE void write(SharedWords words, int lane) const {
    CONVFILT_UNROLL(kPieces)
    for (int k = 0; k < kPieces; ++k) {
      const auto four = words.template get4<uint32_t>(4 * lane + kApart / 4 * k);
      uint8_t* const at = at_ + kApart * k;
      if (whole_[k]) {
        *reinterpret_cast<Four<uint32_t>*>(at) = four;
      } else if (own_[k]) {
        write_bytes(words.from(4 * lane + kApart / 4 * k), at, left_ - kApart * k);
      }
    }
  }
  CONVFILT_DEVICE void go_down(int rows) { at_ += rows * stride_; }

 private:
  static constexpr int kApart = 32 * kChunk;

  uint8_t* at_;
  std::ptrdiff_t stride_;
  int left_;
  bool own_[kPieces], whole_[kPieces];
};

}  // namespace convfilt::CONVFILT_BACKEND
