/// Integer masks in the form that int16-pair multiply-adds (vpmaddwd, vpdpwssd) take.
///
/// A pair row holds two samples of 16 bits in each 32-bit lane: of two rows, or of two pixels in a
/// row. One instruction multiplies a pair by two weights and adds both products. Pairs are made
/// once for every two rows, whatever the number of output rows: output row 0 reads the pairs (s0
/// s1) (s2 s3) ... with weights (w0 w1) (w2 w3) ..., output row 1 reads the same with (0 w0) (w1
/// w2) ..., so that one load serves `rows` output rows.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/row_buffer.hpp"

namespace convfilt::cpu {

struct IntegerTaps {
  int rows = 1;   ///< output rows summed at once
  int slots = 1;  ///< pair rows that they read
  int high = 0;   ///< taps [0, high) hold what exceeds 16 bits, in units of 2^15; the rest follow
  std::vector<Place> places;
  std::vector<std::int32_t> weights;  ///< `rows` pairs of weights a place

  int count() const { return int(places.size()); }
};

/// For pairs of rows: slot q holds source rows 2q and 2q + 1, where output row 0 of the group
/// begins at source row 0. `step` is the distance of horizontal neighbours in samples.
IntegerTaps taps_on_row_pairs(const std::vector<std::int32_t>& weights, int width, int height,
                              int step, int rows);

/// For pairs of pixels in a row: lane x holds samples x and x + step.
IntegerTaps taps_on_pixel_pairs(const std::vector<std::int32_t>& weights, int step);

}  // namespace convfilt::cpu
