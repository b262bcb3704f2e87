/// What a block of tensor_groups.cu does: a wide strip, or a narrow one.
#pragma once

#include "bytes.hpp"
#include "group_grid.hpp"
#include "shift_finish.hpp"
#include "warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND {

using std::int32_t;
using std::uint32_t;
using std::uint8_t;

constexpr int kGroupThreads = 128;
constexpr int kAhead = 3;  // times rows together, that are being copied

/// Words of a copied row of a wide strip.
constexpr int pitch_words(int steps) {
  return (kWideColumns - kGroupSegment + steps * kGroupStep) / 4;
}

/// Rows of a wide strip that are kept: what a product's outputs need, by two, and those on their
/// way.
CONVFILT_HD constexpr int kept_rows(int digits, int mask_height) {
  const int rows = group_rows(digits);
  return (mask_height + rows) / 2 * 2 + rows * kAhead;
}

/// What the kernel gets, by value.
struct GroupMask {
  int height, dy;
  GroupEnd end;
};

/// A block's part of the picture, and of shared memory.
struct GroupPlace {
  PlaneView<const uint8_t> in;
  PlaneView<uint8_t> out;
  uint8_t ghost;
  Border border;
  int channels, height;
  SharedWords bands, rows;
};

template <int kDigits>
using GroupSums = int32_t[8 * kDigits * group_rows(kDigits)];

/// What the sums of each digit begin with.
template <int kDigits>
CONVFILT_DEVICE inline void start(const GroupEnd& end, GroupSums<kDigits>& sums) {
  CONVFILT_UNROLL(8 * kDigits * group_rows(kDigits))
  for (int k = 0; k < 8 * kDigits * group_rows(kDigits); ++k) {
    const int digit = k / 8 % kDigits;
    sums[k] = digit == 0 ? end.low_start : digit == kDigits - 1 ? end.top_start : 0;
  }
}

/// Four neighbouring outputs of row `row` of those together, of a lane's first segment or second.
template <int kDigits>
CONVFILT_DEVICE inline uint32_t four_of(const GroupEnd& end, int row, int half,
                                        const GroupSums<kDigits>& sums) {
  int32_t four[4];
  const auto sum = [&](int k, int digit) {
    return sums[((row * kDigits + digit) * 2 + k / 2) * 4 + half * 2 + k % 2];
  };
  const auto total = [&](int k) {
    int32_t all = sum(k, kDigits - 1);
    for (int digit = kDigits - 2; digit >= 0; --digit) all = all * 256 + sum(k, digit);
    return all;
  };
  const auto end_with = [&](auto&& ended) {
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) four[k] = ended(k);
  };
  if (kDigits < 3 && end.floats.usable) {
    end_with([&](int k) {
      return kDigits == 1 ? end.floats(sum(k, 0)) : end.floats(sum(k, kDigits - 1), sum(k, 0));
    });
  } else if (end.has_halves) {
    const HalfToEven halves = end.halves;
    end_with([&](int k) { return int32_t(halves(uint32_t(total(k)))) >> halves.shift; });
  } else {
    end_with([&](int k) { return end.any(total(k)); });
  }
  return saturated_four(four[0], four[1], four[2], four[3]);
}

/// Adds a row of segments times kDigits digits of the mask's rows, all steps.
template <int kSteps, int kDigits>
CONVFILT_DEVICE inline void add_row(GroupSums<kDigits>& sums, const Operand& row, int step_bytes,
                                    const Operand& band, int height) {
  const int bytes = group_bands(kDigits, height) * group_band_bytes(kDigits);
  CONVFILT_UNROLL(kSteps)
  for (int step = 0; step < kSteps; ++step) {
    multiply(sums, row.from(step * step_bytes), band.from(step * bytes));
  }
}

/// The bands as products take them.
CONVFILT_DEVICE inline Operand band_operand(SharedWords bands) {
  return operand(bands, 8 * 16, 2 * 8 * 16);
}

/// Of the output's columns from..to, those of a word.
CONVFILT_DEVICE inline void store_word(uint8_t* row, int x, int from, int to, bool words,
                                       uint32_t word) {
  if (words && x >= from && x + 4 <= to) {
    *reinterpret_cast<uint32_t*>(row + x) = word;
    return;
  }
  for (int k = 0; k < 4; ++k) {
    if (x + k >= from && x + k < to) row[x + k] = uint8_t(word >> (8 * k));
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
