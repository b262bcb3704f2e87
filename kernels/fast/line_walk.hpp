/// A strip of separable_groups.cu: its sums.
#pragma once

#include "bytes.hpp"
#include "line_rows.hpp"
#include "separable_tensor_mask.hpp"

namespace convfilt::CONVFILT_BACKEND {

using std::int32_t, std::int8_t, std::uint32_t, std::uint8_t;

constexpr int kLineSums = kLineColumns * kLineRows / kLineThreads;  // of a lane, a digit's

/// An operand's matrices lie as line_bands() has them; those of rows chunk by chunk.
CONVFILT_DEVICE inline Operand band_of_lines(SharedWords words) {
  return operand(words, 8 * 16, 2 * 8 * 16);
}
CONVFILT_DEVICE inline Operand rows_of_lines(SharedWords words) {
  return operand(words, kChunkWords * 4, 8 * 16);
}

/// The row bands: a lane's words of all, where there are kSteps of them; else (0) they stay in
/// shared memory, which takes half as long again a product.
template <int kDigits, int kSteps>
class RowBands {
 public:
  CONVFILT_DEVICE RowBands(SharedWords bands, int) {
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    CONVFILT_UNROLL(kSteps * kDigits * 4)
    for (int k = 0; k < kSteps * kDigits * 4; ++k) {
      const int row = 2 * warp + k % 2, half = k % 4 / 2;  // of core matrices
      words_[k / 4][k % 4] =
          bands.get<uint32_t>(k / 4 * (kRowBandBytes / 4) + row * 64 + half * 32 + g * 4 + t);
    }
  }
  /// Sums of each digit of all steps.
  CONVFILT_DEVICE void multiply_rows(int32_t (&top)[kLineSums], int32_t (&low)[kLineSums],
                                     const Operand& rows) const {
    CONVFILT_UNROLL(kSteps)
    for (int step = 0; step < kSteps; ++step) {
      const Operand b = rows.from(step * 2 * kChunkWords * 4);
      multiply<int8_t, uint8_t>(top, words_[step * kDigits], b, step > 0);
      if constexpr (kDigits == 2) {
        multiply<uint8_t, uint8_t>(low, words_[step * kDigits + 1], b, step > 0);
      }
    }
  }

 private:
  uint32_t words_[kSteps * kDigits][4];
};

template <int kDigits>
class RowBands<kDigits, 0> {
 public:
  CONVFILT_DEVICE RowBands(SharedWords bands, int steps)
      : bands_(band_of_lines(bands)), steps_(steps) {}

  CONVFILT_DEVICE void multiply_rows(int32_t (&top)[kLineSums], int32_t (&low)[kLineSums],
                                     const Operand& rows) const {
    // A loop waits at its end for its products.
    CONVFILT_UNROLL(1)
    for (int step = 0; step < steps_; step += kLineStepsTogether) {
      CONVFILT_UNROLL(kLineStepsTogether)
      for (int k = 0; k < kLineStepsTogether; ++k) {
        const Operand a = bands_.from((step + k) * kDigits * kRowBandBytes);
        const Operand b = rows.from((step + k) * 2 * kChunkWords * 4);
        multiply<int8_t, uint8_t>(top, a, b, step + k > 0);
        if constexpr (kDigits == 2) {
          multiply<uint8_t, uint8_t>(low, a.from(kRowBandBytes), b, step + k > 0);
        }
      }
    }
  }

 private:
  Operand bands_;
  int steps_;
};

/// What lies between the passes of kBlocks groups of rows, a lane's words of their upper bytes,
/// which have the sign, and of their lower ones.
template <int kBlocks>
struct LineMids {
  uint32_t high[kBlocks][4] = {}, low[kBlocks][4] = {};

  template <int kDigits>
  CONVFILT_DEVICE void push(const LineEnds& ends, const int32_t (&top)[kLineSums],
                            const int32_t (&lower)[kLineSums]) {
    CONVFILT_UNROLL(4 * (kBlocks - 1))
    for (int k = 0; k < 4 * (kBlocks - 1); ++k) {
      high[k / 4][k % 4] = high[k / 4 + 1][k % 4];
      low[k / 4][k % 4] = low[k / 4 + 1][k % 4];
    }
    const uint32_t top_scale = kDigits == 2 ? ends.row_scale * 256 : ends.row_scale;
    CONVFILT_UNROLL(4)
    for (int word = 0; word < 4; ++word) {
      uint32_t ended[4];
      CONVFILT_UNROLL(4)
      for (int byte = 0; byte < 4; ++byte) {
        const int k = (word / 2 * 2 + byte / 2) * 4 + word % 2 * 2 + byte % 2;
        uint32_t sum = ends.row_start;
        if constexpr (kDigits == 2) sum += uint32_t(lower[k]) * ends.row_scale;
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
struct LineSums {
  int32_t top[kLineSums], middle[kLineSums], low[kLineSums];

  template <int kDigits, int kBlocks>
  CONVFILT_DEVICE void multiply_columns(const LineMids<kBlocks>& mids, const Operand& bands) {
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

/// Walks down the rows from..to of a strip.
template <int kDigits, int kSteps, int kBlocks>
CONVFILT_DEVICE inline void walk_lines(const LinePlace& place, const LineGrid& grid, int dy,
                                       const LineEnds& ends, int strip, int from, int to) {
  const int x = strip * kLineColumns, chunks = grid.chunks();
  const int groups = kBlocks - 1 + ceil_div(to - from, kLineRows);
  write_sides<kLineColumns, kLineThreads>(place, grid, x, from + dy, groups * kLineRows);
  LineCopies copies(x, from + dy, groups, chunks);
  CONVFILT_UNROLL(1)
  for (int ahead = 0; ahead < kLineAhead; ++ahead) {
    copies.copy_group(place);
    commit_copies();
  }
  finish_copies<kLineAhead - 1>();
  __syncthreads();
  const RowBands<kDigits, kSteps> row_bands(place.bands, grid.steps);
  const Operand column_bands =
      band_of_lines(place.bands.from(grid.steps * kDigits * (kRowBandBytes / 4)));

  LineSink sink(place, x, from, to);
  LineMids<kBlocks> mids;
  const Operand first = rows_of_lines(place.rows);
  int slot = 0, stage = threadIdx.x / 32 * 4;
  CONVFILT_UNROLL(1)
  for (int group = 0; group < groups; ++group) {
    // Wait for the newest rows, and multiply them.
    finish_copies<kLineAhead - 1>();
    hand_over();
    __syncthreads();
    int32_t top[kLineSums], low[kLineSums];
    begin_products();
    row_bands.multiply_rows(top, low, first.from(slot * chunks * kChunkWords * 4));
    commit_products();
    slot = slot == kLineAhead ? 0 : slot + 1;

    // Meanwhile, copy rows over those that all warps were through with before the barrier, and
    // store the outputs that were complete there.
    copies.copy_group(place);
    commit_copies();
    if (group >= kBlocks) sink.store_group(place);
    if constexpr (kDigits == 2) {
      finish_products(top, low);
    } else {
      finish_products(top);
    }
    mids.template push<kDigits>(ends, top, low);
    if (group < kBlocks - 1) continue;

    // Multiply what lies between with the columns' bands, and end the sums.
    LineSums sums;
    sums.multiply_columns<kDigits>(mids, column_bands);
    with_column_end(ends, [&](const auto& end) {
      const auto ended = [&](int k) { return end(sums.total<kDigits>(k, ends.column_start)); };
      uint32_t words[4];
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        words[k] =
            saturated_four(ended(4 * k), ended(4 * k + 2), ended(4 * k + 1), ended(4 * k + 3));
      }
      set_turned(place.stages, stage, kStageWords, words);
    });
    stage += stage < kLineRows * kStageWords ? kLineRows * kStageWords : -kLineRows * kStageWords;
  }
  __syncthreads();
  sink.store_group(place);
}

}  // namespace convfilt::CONVFILT_BACKEND
