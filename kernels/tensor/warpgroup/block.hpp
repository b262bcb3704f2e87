/// Parts that the two kernels of warpgroups share: a block's threads, arguments and shared memory.
#pragma once

#include "kernels/backend/warpgroup.hpp"
#include "kernels/contract/sum_ends.hpp"
#include "kernels/tensor/warpgroup/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup {

using namespace convfilt::tensor::warpgroup;
using std::int32_t;
using std::uint32_t;
using std::uint8_t;

constexpr int kThreads = 128;
constexpr int kAhead = 3;  // rows being copied, in multiples of rows_together()

/// Words of a copied row.
constexpr int pitch_words(int steps) {
  return (kColumns - kSegment + steps * kStep) / 4;
}

/// Rows that are kept in shared memory: those that a product's outputs need, rounded up to an even
/// number, and those that are being copied.
CONVFILT_HD constexpr int kept_rows(int digits, int mask_height) {
  const int rows = rows_together(digits);
  return (mask_height + rows) / 2 * 2 + rows * kAhead;
}

/// The mask as a kernel takes it, by value.
struct MaskArgument {
  int height, dy;  ///< rows of one part; rows from an output to the first tap's
  Ends end;
  int parts = 1;
  bool half = false;  ///< Cut::half
};

/// The samples that a block reads, the picture that it writes, and its shared memory.
struct BlockData {
  PlaneView<uint8_t> picture;  ///< with padding at its rows' sides
  /// The same from where the first strip's samples begin, which may be in the padding.
  PlaneView<const uint8_t> samples;
  PlaneView<uint8_t> out;
  uint8_t ghost;
  Border border;
  int channels;
  SharedWords matrices, rows;
  PlaneView<int32_t> carried = {};  ///< all blocks' sums between two parts, strip by strip
};

/// An end by a shift, for sums that began at 0.
struct LateStart {
  HalfToEven halves;

  CONVFILT_DEVICE int32_t operator()(int32_t sum) const { return halves(sum + halves.start); }
};

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup
