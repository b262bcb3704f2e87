/// A strip of separable_groups.cu.
#pragma once

#include "kernels/separable_tensor/warpgroup/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Walks down a strip.
template <int kDigits, int kSteps, int kBlocks>
CONVFILT_DEVICE inline void walk_passes(const PassPlace& place, const PassGrid& grid, int dy,
                                        const LineEnds& ends, const PassStrip& strip) {
  const int x = strip.x, boxes = boxes_of(grid);
  const int from = strip.from, to = min(from + strip.rows, place.out.height);
  const int groups = kBlocks - 1 + ceil_div(to - from, kPassRows);
  PassCopies copies(x, from + dy, groups, boxes);
  if (threadIdx.x == 0) start_arrivals(place.arrivals, 0, kPassAhead + 1);
  __syncthreads();
  CONVFILT_UNROLL(1)
  for (int ahead = 0; ahead < kPassAhead; ++ahead) {
    copies.copy_group(place);
  }
  commit_copies();  // of the bands
  finish_copies<0>();
  hand_over();
  __syncthreads();
  const RowBands<kDigits, kSteps> row_bands(place.bands, grid.steps);
  const Operand column_bands =
      pass_band(place.bands.from(grid.steps * kDigits * (kRowBandBytes / 4)));

  PassSink sink(place, x, from, to);
  PassMids<kBlocks> mids;
  const Operand first = box_operand(place.rows);
  int slot = 0, round = 0, stage = threadIdx.x / 32 * 4;
  CONVFILT_UNROLL(1)
  for (int group = 0; group < groups; ++group) {
    // Wait for the newest rows, and multiply them.
    await(place.arrivals, 2 * slot, round);
    __syncthreads();
    int32_t sums[kPassSums];
    const Operand rows = first.from(slot * boxes * kBoxWords * 4);
    begin_products();
    row_bands.template multiply_rows<0>(sums, rows);
    commit_products();
    round += slot == kPassAhead;
    slot = slot == kPassAhead ? 0 : slot + 1;

    // Meanwhile, copy rows over those that all warps were through with before the barrier, and
    // store the outputs that were complete there.
    copies.copy_group(place);
    if (group >= kBlocks) sink.store_group(place);
    finish_rows(sums, row_bands, rows);
    mids.push(ends.rows[0], sums);
    if (group < kBlocks - 1) continue;

    // Multiply what lies between with the columns' bands, and end the sums.
    multiply_columns<kDigits>(sums, mids, column_bands, ends.column_start);
    with_column_end(ends, [&](const auto& end) {
      const auto ended = [&](int k) { return end(sums[k]); };
      uint32_t words[4];
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        words[k] =
            saturated_four(ended(4 * k), ended(4 * k + 2), ended(4 * k + 1), ended(4 * k + 3));
      }
      set_turned(place.stages, stage, kStageWords, words);
    });
    stage += stage < kPassRows * kStageWords ? kPassRows * kStageWords : -kPassRows * kStageWords;
  }
  __syncthreads();
  sink.store_group(place);
}

}  // namespace convfilt::CONVFILT_BACKEND
