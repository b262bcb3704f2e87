/// What lies between the passes of separable_groups.cu, and the column pass.
#pragma once

#include "kernels/contract/bytes.hpp"
#include "kernels/separable_tensor/warpgroup/row_bands.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Sums of products of a digit, for those of the next one to be added to. So they need fewer
/// registers than sums of each digit would, and an SM has room for more blocks.
CONVFILT_DEVICE inline void raise(int32_t (&sums)[kPassSums], uint32_t start = 0) {
  CONVFILT_UNROLL(kPassSums)
  for (int k = 0; k < kPassSums; ++k) sums[k] = int32_t(uint32_t(sums[k]) * 256 + start);
}

/// What lies between the passes of kBlocks groups of rows, a lane's words of their upper bytes,
/// which have the sign, and of their lower ones.
template <int kBlocks>
struct PassMids {
  uint32_t high[kBlocks][4] = {}, low[kBlocks][4] = {};

  CONVFILT_DEVICE void push(const RowEnd& row_end, const int32_t (&sums)[kPassSums]) {
    CONVFILT_UNROLL(4 * (kBlocks - 1))
    for (int k = 0; k < 4 * (kBlocks - 1); ++k) {
      high[k / 4][k % 4] = high[k / 4 + 1][k % 4];
      low[k / 4][k % 4] = low[k / 4 + 1][k % 4];
    }
    CONVFILT_UNROLL(4)
    for (int word = 0; word < 4; ++word) {
      uint32_t ended[4];
      CONVFILT_UNROLL(4)
      for (int byte = 0; byte < 4; ++byte) {
        const int k = (word / 2 * 2 + byte / 2) * 4 + word % 2 * 2 + byte % 2;
        ended[byte] = uint32_t(sums[k]) * row_end.scale + row_end.start;
      }
      const uint32_t first = pick_bytes(ended[0], ended[1], 0x7362);
      const uint32_t second = pick_bytes(ended[2], ended[3], 0x7362);
      low[kBlocks - 1][word] = pick_bytes(first, second, 0x5410);
      high[kBlocks - 1][word] = pick_bytes(first, second, 0x7632);
    }
  }
};

/// The row pass has begun the sums with the top digit's products: adds the others.
template <int kDigits, int kSteps>
CONVFILT_DEVICE inline void finish_rows(int32_t (&sums)[kPassSums],
                                        const RowBands<kDigits, kSteps>& bands,
                                        const Operand& rows) {
  finish_products(sums);
  if constexpr (kDigits == 2) {
    raise(sums);
    begin_products();
    bands.template multiply_rows<1>(sums, rows);
    commit_products();
    finish_products(sums);
  }
}

/// The column pass; the sums begin at `start`.
template <int kDigits, int kBlocks>
CONVFILT_DEVICE inline void multiply_columns(int32_t (&sums)[kPassSums],
                                             const PassMids<kBlocks>& mids, const Operand& bands,
                                             uint32_t start) {
  const auto band = [&](int block, int digit) {
    return bands.from((block * kDigits + digit) * kColumnBandBytes);
  };
  begin_products();
  CONVFILT_UNROLL(kBlocks)
  for (int block = 0; block < kBlocks; ++block) {
    multiply<int8_t, int8_t>(sums, mids.high[block], band(block, 0), block > 0);
  }
  commit_products();
  finish_products(sums);
  if constexpr (kDigits == 2) {
    raise(sums);
    begin_products();
    CONVFILT_UNROLL(kBlocks)
    for (int block = 0; block < kBlocks; ++block) {
      multiply<int8_t, uint8_t>(sums, mids.high[block], band(block, 1));
      multiply<uint8_t, int8_t>(sums, mids.low[block], band(block, 0));
    }
    commit_products();
    finish_products(sums);
  }
  raise(sums, start);
  begin_products();
  CONVFILT_UNROLL(kBlocks)
  for (int block = 0; block < kBlocks; ++block) {
    multiply<uint8_t, DigitOf<kDigits - 1>>(sums, mids.low[block], band(block, kDigits - 1));
  }
  commit_products();
  finish_products(sums);
}

}  // namespace convfilt::CONVFILT_BACKEND
