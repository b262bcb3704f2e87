/// What lies between the passes of separable_groups.cu, and the column pass.
#pragma once

#include "bytes.hpp"
#include "pass_row_bands.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// What lies between the passes of kBlocks groups of rows, a lane's words of their upper bytes,
/// which have the sign, and of their lower ones.
template <int kBlocks>
struct PassMids {
  uint32_t high[kBlocks][4] = {}, low[kBlocks][4] = {};

  template <int kDigits>
  CONVFILT_DEVICE void push(const RowEnd& row_end, const int32_t (&top)[kPassSums],
                            const int32_t (&lower)[kPassSums]) {
    CONVFILT_UNROLL(4 * (kBlocks - 1))
    for (int k = 0; k < 4 * (kBlocks - 1); ++k) {
      high[k / 4][k % 4] = high[k / 4 + 1][k % 4];
      low[k / 4][k % 4] = low[k / 4 + 1][k % 4];
    }
    const uint32_t top_scale = kDigits == 2 ? row_end.scale * 256 : row_end.scale;
    CONVFILT_UNROLL(4)
    for (int word = 0; word < 4; ++word) {
      uint32_t ended[4];
      CONVFILT_UNROLL(4)
      for (int byte = 0; byte < 4; ++byte) {
        const int k = (word / 2 * 2 + byte / 2) * 4 + word % 2 * 2 + byte % 2;
        uint32_t sum = row_end.start;
        if constexpr (kDigits == 2) sum += uint32_t(lower[k]) * row_end.scale;
        ended[byte] = uint32_t(top[k]) * top_scale + sum;
      }
      const uint32_t first = pick_bytes(ended[0], ended[1], 0x7362);
      const uint32_t second = pick_bytes(ended[2], ended[3], 0x7362);
      low[kBlocks - 1][word] = pick_bytes(first, second, 0x5410);
      high[kBlocks - 1][word] = pick_bytes(first, second, 0x7632);
    }
  }
};

/// The column pass: a group's sums as digits. Of one digit of weights `middle` is not used.
struct PassSums {
  int32_t top[kPassSums], middle[kPassSums], low[kPassSums];

  template <int kDigits, int kBlocks>
  CONVFILT_DEVICE void multiply_columns(const PassMids<kBlocks>& mids, const Operand& bands) {
    begin_products();
    CONVFILT_UNROLL(kBlocks)
    for (int block = 0; block < kBlocks; ++block) {
      const Operand b = bands.from(block * kDigits * kColumnBandBytes);
      multiply<int8_t, int8_t>(top, mids.high[block], b, block > 0);
      if constexpr (kDigits == 2) {
        const Operand b_low = b.from(kColumnBandBytes);
        multiply<int8_t, uint8_t>(middle, mids.high[block], b_low, block > 0);
        multiply<uint8_t, int8_t>(middle, mids.low[block], b);
        multiply<uint8_t, uint8_t>(low, mids.low[block], b_low, block > 0);
      } else {
        multiply<uint8_t, int8_t>(low, mids.low[block], b, block > 0);
      }
    }
    commit_products();
    if constexpr (kDigits == 2) {
      finish_products(top, middle, low);
    } else {
      finish_products(top, low);
    }
  }

  template <int kDigits>
  CONVFILT_DEVICE int32_t total(int k, uint32_t start) const {
    if constexpr (kDigits == 1) return int32_t(uint32_t(top[k]) * 256 + uint32_t(low[k]) + start);
    return int32_t(uint32_t(top[k]) * 65536 + (uint32_t(middle[k]) * 256 + uint32_t(low[k])) +
                   start);
  }
};

}  // namespace convfilt::CONVFILT_BACKEND
