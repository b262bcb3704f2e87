/// What a block of tensor_groups.cu has: its place, and the sums of its rows.
#pragma once

#include "kernels/backend/warpgroup.hpp"
#include "kernels/contract/digit_sums.hpp"
#include "kernels/tensor/warpgroup/grid.hpp"

namespace convfilt::CONVFILT_BACKEND {

using std::int32_t;
using std::uint32_t;
using std::uint8_t;

constexpr int kGroupThreads = 128;
constexpr int kAhead = 3;  // times rows together, that are being copied

/// Words of a copied row.
constexpr int pitch_words(int steps) {
  return (kGroupColumns - kGroupSegment + steps * kGroupStep) / 4;
}

/// Rows that are kept: what a product's outputs need, by two, and those on their way.
CONVFILT_HD constexpr int kept_rows(int digits, int mask_height) {
  const int rows = group_rows(digits);
  return (mask_height + rows) / 2 * 2 + rows * kAhead;
}

/// What the kernel gets, by value.
struct GroupMask {
  int height, dy;  ///< of the first part
  GroupEnd end;
  int parts = 1;
  bool half = false;  ///< see GroupCut
};

/// What a block reads and writes, and its shared memory.
struct GroupPlace {
  PlaneView<uint8_t> picture;        ///< with padding at its rows' sides
  PlaneView<const uint8_t> samples;  ///< of it, from the padding on: a strip's are at its column
  PlaneView<uint8_t> out;
  uint8_t ghost;
  Border border;
  int channels;
  SharedWords bands, rows;
  PlaneView<int32_t> carried = {};  ///< all blocks' sums between two parts, a strip's row each
};

template <int kDigits>
using GroupSums = int32_t[8 * kDigits * group_rows(kDigits)];

/// What sums begin with that end in floats; others begin with their first product.
template <int kDigits>
CONVFILT_DEVICE inline void start(const FloatEnd& end, GroupSums<kDigits>& sums) {
  CONVFILT_UNROLL(8 * kDigits * group_rows(kDigits))
  for (int k = 0; k < 8 * kDigits * group_rows(kDigits); ++k) {
    sums[k] = kDigits == 1 || k / 8 % kDigits > 0 ? end.start : end.low_start;
  }
}

/// A thread's sums of the parts before, four neighbours each, in any order: no other reads them.
template <int kDigits>
class CarriedSums {
 public:
  /// From row `first` of the plane on, where there is one.
  CONVFILT_DEVICE CarriedSums(const PlaneView<int32_t>& all, int first)
      : all_(reinterpret_cast<Four<int32_t>*>(all.data)),
        at_(std::ptrdiff_t(first) * (kGroupColumns / 4) + threadIdx.x) {}

  /// Of the rows next on: so long before they are wanted that nobody waits for memory.
  CONVFILT_DEVICE void fetch(int rows_on) {
    CONVFILT_UNROLL(kFours)
    for (int four = 0; four < kFours; ++four) {
      fetched_[four] = all_[at_ + (2 * rows_on + four) * kGroupThreads];
    }
  }
  /// The lowest digit's go on from what was fetched.
  CONVFILT_DEVICE void start(GroupSums<kDigits>& sums) const {
    CONVFILT_UNROLL(kFours)
    for (int four = 0; four < kFours; ++four) {
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        sums[place(four, 0, k)] = fetched_[four].samples[k];
        CONVFILT_UNROLL(kDigits)
        for (int digit = 1; digit < kDigits; ++digit) sums[place(four, digit, k)] = 0;
      }
    }
  }
  CONVFILT_DEVICE void keep(const GroupSums<kDigits>& sums) const {
    CONVFILT_UNROLL(kFours)
    for (int four = 0; four < kFours; ++four) {
      Four<int32_t> totals;
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        const auto sum = [&](int digit) { return sums[place(four, digit, k)]; };
        totals.samples[k] = DigitSums<kDigits>{sum(kDigits - 1), sum(kDigits / 2), sum(0)}.total();
      }
      all_[at_ + four * kGroupThreads] = totals;
    }
  }
  CONVFILT_DEVICE void go_down() { at_ += kFours * kGroupThreads; }

 private:
  static constexpr int kFours = 2 * group_rows(kDigits);  // of rows together

  static CONVFILT_DEVICE constexpr int place(int four, int digit, int k) {
    return ((four / 2 * kDigits + digit) * 2 + k / 2) * 4 + four % 2 * 2 + k % 2;
  }
  Four<int32_t>* all_;
  std::ptrdiff_t at_;
  Four<int32_t> fetched_[kFours];
};

}  // namespace convfilt::CONVFILT_BACKEND
