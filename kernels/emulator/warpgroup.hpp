/// The emulator's side of warpgroup.hpp: each thread computes its own sums from shared memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "shared_words.hpp"

namespace convfilt::emulator {

/// Tests play a device that has them; explain tells of the kernels of all others.
inline bool has_warpgroup_products = false;

inline bool has_warpgroups(const PlanOptions&) {
  return has_warpgroup_products;
}

class Operand {
 public:
  Operand(SharedWords words, int lead, int stride) : words_(words), lead_(lead), stride_(stride) {}

  Operand from(int bytes) const {
    if (bytes % 16 != 0) fail("a product's operand does not lie at a multiple of 16");
    return Operand(words_.from(bytes / 4), lead_, stride_);
  }
  Operand chunks_on(int chunks) const { return from(16 * chunks); }
  /// Bytes 4 * quarter to 4 * quarter + 3 of a row.
  std::uint32_t word(int row, int quarter) const {
    const int at = row / 8 * stride_ + quarter / 4 * lead_ + row % 8 * 16 + quarter % 4 * 4;
    return words_.get<std::uint32_t>(at / 4);
  }

 private:
  SharedWords words_;
  int lead_, stride_;
};

inline Operand operand(SharedWords words, int lead, int stride) {
  return Operand(words, lead, stride);
}

inline void begin_products() {}
inline void commit_products() {}
template <int pending = 0, int count>
void finish_products(std::int32_t (&)[count]) {}

/// What weighs nothing is not read: it may never have been written.
template <int count>
void multiply(std::int32_t (&sums)[count], const Operand& a, const Operand& b, bool keep = true) {
  if (!keep) std::fill_n(sums, count, 0);
  const int warp = int(running.thread / kLanes) % 4, lane = int(running.thread % kLanes);
  for (int quarter = 0; quarter < 8; ++quarter) {
    std::uint32_t samples[2] = {};
    bool read[2] = {};
    for (int k = 0; k < count; ++k) {
      const int half = k / 2 % 2, column = k / 4 * 8 + lane % 4 * 2 + k % 2;
      const std::uint32_t weights = b.word(column, quarter);
      if (weights == 0) continue;
      if (!read[half]) samples[half] = a.word(16 * warp + lane / 4 + 8 * half, quarter);
      read[half] = true;
      std::uint32_t sum = std::uint32_t(sums[k]);
      for (int byte = 0; byte < 4; ++byte) {
        sum += byte_of<std::uint8_t>(&samples[half], byte) * byte_of<std::int8_t>(&weights, byte);
      }
      sums[k] = std::int32_t(sum);
    }
  }
}

/// Sums of products of a's row of weights and the samples in b's columns, which are not read where
/// they weigh nothing. weights(half, quarter): a word of the thread's first row or second.
template <int count, class Weights>
void multiply_weights(std::int32_t (&sums)[count], const Weights& weights, const Operand& b,
                      bool keep) {
  if (!keep) std::fill_n(sums, count, 0);
  const int lane = int(running.thread % kLanes);
  for (int quarter = 0; quarter < 8; ++quarter) {
    const std::uint32_t rows[2] = {weights(0, quarter), weights(1, quarter)};
    if ((rows[0] | rows[1]) == 0) continue;
    for (int k = 0; k < count; k += k % 2 == 0 ? 1 : 3) {
      const std::uint32_t samples = b.word(k / 4 * 8 + lane % 4 * 2 + k % 2, quarter);
      for (int half = 0; half < 2; ++half) {
        std::uint32_t sum = std::uint32_t(sums[k + 2 * half]);
        for (int byte = 0; byte < 4; ++byte) {
          sum += byte_of<std::int8_t>(&rows[half], byte) * byte_of<std::uint8_t>(&samples, byte);
        }
        sums[k + 2 * half] = std::int32_t(sum);
      }
    }
  }
}

template <int count>
void multiply_signed(std::int32_t (&sums)[count], const Operand& a, const Operand& b,
                     bool keep = true) {
  const int warp = int(running.thread / kLanes) % 4, lane = int(running.thread % kLanes);
  const auto weights = [&](int half, int quarter) {
    return a.word(16 * warp + lane / 4 + 8 * half, quarter);
  };
  multiply_weights(sums, weights, b, keep);
}

/// Lanes lay their registers before each other.
template <int count>
void multiply_signed(std::int32_t (&sums)[count], const std::uint32_t (&a)[4], const Operand& b,
                     bool keep = true) {
  const int lane = int(running.thread % kLanes);
  Fragments(&all)[kLanes] = fragments[running.meetings % 2];
  std::copy_n(a, 4, all[lane].a);
  meet_warp();
  const auto weights = [&](int half, int quarter) {
    return all[lane / 4 * 4 + quarter % 4].a[half + quarter / 4 * 2];
  };
  multiply_weights(sums, weights, b, keep);
}

}  // namespace convfilt::emulator
