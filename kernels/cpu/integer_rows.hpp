/// 8-bit pictures on the CPU: masks in the form that int16-pair multiply-adds (vpmaddwd, vpdpwssd)
/// take, and the inner loops. These are compiled for every vector width and chosen at run time.
///
/// A pair row holds two samples of 16 bits in each 32-bit lane, from two rows or from two pixels of
/// one row. One instruction multiplies a pair by two weights and adds both products. Pairs are made
/// once for every two rows, however many output rows there are. Output row 0 reads the pairs (s0
/// s1) (s2 s3) ... with weights (w0 w1) (w2 w3) ...; output row 1 reads the same pairs with (0 w0)
/// (w1 w2) .... So one load serves `rows` output rows.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/cpu/row_buffer.hpp"

namespace convfilt::cpu {

struct IntegerTaps {
  int rows = 1;   ///< output rows summed at once
  int slots = 1;  ///< pair rows that they read
  int high = 0;   ///< taps [0, high) are the weights' parts above 16 bits, in units of 2^15
  int folds = 0;  ///< the first so many after them come in twos of equal weights
  bool on_row_sums = false;  ///< the sources are what pass_rows makes
  std::vector<TapPlace> places;
  std::vector<std::int32_t> weights;  ///< `rows` pairs of weights for each place

  int count() const { return int(places.size()); }
};

/// The taps for pairs of rows. Slot q holds source rows 2q and 2q + 1, and output row 0 begins at
/// source row 0. `step` is the distance of horizontal neighbours in samples. Columns of equal
/// weights are folded if they may be: two samples are added before they are multiplied, so samples
/// are bytes.
IntegerTaps taps_on_row_pairs(const std::vector<std::int32_t>& weights, int width, int height,
                              int step, int rows, bool may_fold = false);

/// The weights of a row pass, for neighbours `step` samples apart.
struct RowTaps {
  RowTaps(const std::vector<std::int32_t>& weights, int step);

  int step;
  IntegerTaps pairs;  ///< for pairs of pixels: lane x holds samples x and x + step

  /// Four pixels from the one at `offset` on, of which a lane holds the bytes. Each weight is 256 *
  /// high + low.
  struct Four {
    int offset;
    std::int32_t low, high;
  };
  std::vector<Four> fours;  ///< empty where a weight does not fit two signed bytes
  int highs = 0;            ///< the first so many have a `high` that is not 0
};

/// IntegerFinish in a form for vectors.
struct VectorFinish {
  explicit VectorFinish(const IntegerFinish& finish);

  std::int32_t offset;  ///< (sum + offset) / divisor, rounded half to even, saturated
  std::int32_t divisor;
  std::int32_t lowest_sum, highest_sum;  ///< sums beyond these saturate
  std::int32_t half;                     ///< divisor / 2
  std::int32_t even;                     ///< 1 when the divisor is even
  int shift;  ///< log2(divisor) where that is whole and no sum + offset overflows, else -1
};

/// The inner loops. Whole blocks beyond n may be written, except by filter_rows.
struct IntegerLoops {
  /// Makes pairs[x] = (first[x], second[x]).
  void (*make_pairs)(const std::uint8_t* first, const std::uint8_t* second, int n,
                     std::int32_t* pairs);

  /// Computes taps.rows rows of output: out[r][x] = finish(sum over taps t of weights(t, r) .
  /// sources[t][x]). A null out[r] is left out.
  void (*filter_rows)(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                      const VectorFinish& finish, std::uint8_t* const* out);

  /// Does the row pass of an even row and the odd one below it: pairs[x] = (even row, odd row),
  /// finished to int16, with ties rounded up. These are the pairs of rows that the column pass
  /// reads, in whichever order of samples suits the machine.
  void (*pass_rows)(const RowTaps& taps, const std::uint8_t* const (&rows)[2], int n,
                    const VectorFinish& finish, std::int32_t* pairs);
};

/// The loops for this machine.
IntegerLoops integer_loops();

}  // namespace convfilt::cpu
