/// The emulator's side of warpgroup.hpp: each thread computes its own sums from shared memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/backend/emulator/shared_words.hpp"

namespace convfilt::emulator {

/// Tests set it to play a device with warpgroups. By default plans take the kernels for all other
/// devices, which `explain` describes.
inline bool has_warpgroup_products = false;

inline bool has_warpgroups(const PlanOptions&) {
  return has_warpgroup_products;
}

inline constexpr bool kWarpgroupCode = true;

class Operand {
 public:
  /// `swizzled` is the distance of rows in bytes where rows are swizzled: chunk c of row r is
  /// stored as chunk c ^ r % 8.
  Operand(SharedWords words, int lead, int stride, int swizzled = 0)
      : words_(words), lead_(lead), stride_(stride), swizzled_(swizzled) {}

  Operand from(int bytes) const {
    if (bytes % 16 != 0) fail("a product's operand does not lie at a multiple of 16");
    Operand further = *this;
    further.start_ += bytes;
    return further;
  }
  Operand chunks_on(int chunks) const { return from(16 * chunks); }
  /// Bytes 4 * quarter to 4 * quarter + 3 of a row.
  std::uint32_t word(int row, int quarter) const {
    int at = start_ + row / 8 * stride_ + quarter / 4 * lead_ + quarter % 4 * 4;
    at += row % 8 * (swizzled_ > 0 ? swizzled_ : 16);
    if (swizzled_ > 0) at ^= at / swizzled_ % 8 * 16;
    return words_.get<std::uint32_t>(at / 4);
  }

 private:
  SharedWords words_;
  int lead_, stride_, swizzled_, start_ = 0;
};

inline Operand operand(SharedWords words, int lead, int stride) {
  return Operand(words, lead, stride);
}

inline void begin_products() {}
inline void commit_products() {}
template <int... counts>
void finish_products([[maybe_unused]] std::int32_t (&... sums)[counts]) {}
template <int later, int... counts>
void finish_products_but([[maybe_unused]] std::int32_t (&... sums)[counts]) {}

/// A lane's sums come in fours: two columns of a row, then the same columns of the row 8 below. A
/// pair is one column of both rows. column_of() is its column, and sum_of_half() is the index of
/// its sum in either row.
inline int column_of(int pair, int lane) {
  return pair / 2 * 8 + lane % 4 * 2 + pair % 2;
}
inline int sum_of_half(int pair, int half) {
  return pair / 2 * 4 + pair % 2 + 2 * half;
}

/// Adds with wrap-around, as a device does.
inline void add(std::int32_t& sum, std::uint32_t more) {
  sum = std::int32_t(std::uint32_t(sum) + more);
}

/// Samples whose weights are zero are not read, since they may never have been written.
template <int count>
void multiply(std::int32_t (&sums)[count], const Operand& a, const Operand& b, bool keep = true) {
  if (!keep) std::fill_n(sums, count, 0);
  const int warp = int(running.thread / kLanes) % 4, lane = int(running.thread % kLanes);
  for (int quarter = 0; quarter < 8; ++quarter) {
    std::uint32_t samples[2] = {};
    bool read = false;
    for (int pair = 0; pair < count / 2; ++pair) {
      const std::uint32_t weights = b.word(column_of(pair, lane), quarter);
      if (weights == 0) continue;
      for (int half = 0; half < 2; ++half) {
        if (!read) samples[half] = a.word(16 * warp + lane / 4 + 8 * half, quarter);
        add(sums[sum_of_half(pair, half)],
            products<std::uint8_t, std::int8_t>(samples[half], weights));
      }
      read = true;
    }
  }
}

/// words_of_a(half, quarter) is the four bytes from 4 * quarter on of row 16 * warp + g + 8 * half.
template <class A, class B, int count, class Words>
void multiply_words(std::int32_t (&sums)[count], const Words& words_of_a, const Operand& b,
                    bool keep) {
  if (!keep) std::fill_n(sums, count, 0);
  const int lane = int(running.thread % kLanes);
  for (int quarter = 0; quarter < 8; ++quarter) {
    const std::uint32_t samples[2] = {words_of_a(0, quarter), words_of_a(1, quarter)};
    for (int pair = 0; pair < count / 2; ++pair) {
      const std::uint32_t weights = b.word(column_of(pair, lane), quarter);
      for (int half = 0; half < 2; ++half)
        add(sums[sum_of_half(pair, half)], products<A, B>(samples[half], weights));
    }
  }
}

template <class A, class B, int count>
void multiply(std::int32_t (&sums)[count], const Operand& a, const Operand& b, bool keep = true) {
  const int warp = int(running.thread / kLanes) % 4, g = int(running.thread % kLanes) / 4;
  multiply_words<A, B>(
      sums, [&](int half, int quarter) { return a.word(16 * warp + g + 8 * half, quarter); }, b,
      keep);
}

template <class A, class B, int count>
void multiply(std::int32_t (&sums)[count], const std::uint32_t (&a)[4], const Operand& b,
              bool keep = true) {
  const int lane = int(running.thread % kLanes);
  Fragments(&all)[kLanes] = fragments[running.meetings % 2];
  std::copy_n(a, 4, all[lane].a);
  meet_warp();
  multiply_words<A, B>(
      sums,
      [&](int half, int quarter) {
        return all[lane / 4 * 4 + quarter % 4].a[half + quarter / 4 * 2];
      },
      b, keep);
}

inline void set_turned(SharedWords words, int at, int pitch, const std::uint32_t (&own)[4]) {
  const int lane = int(running.thread % kLanes);
  Fragments(&all)[kLanes] = fragments[running.meetings % 2];
  std::copy_n(own, 4, all[lane].a);
  meet_warp();
  const int row = lane % 8;
  const auto half_word = [&](int column) {
    return all[column * 4 + row / 2].a[lane / 8] >> (16 * (row % 2)) & 0xffff;
  };
  Four<std::uint32_t> turned;
  for (int k = 0; k < 4; ++k) turned.samples[k] = half_word(2 * k) | half_word(2 * k + 1) << 16;
  words.set4(at + lane * pitch, turned);
}

}  // namespace convfilt::emulator
