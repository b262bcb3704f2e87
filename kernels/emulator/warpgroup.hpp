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
template <int count>
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

}  // namespace convfilt::emulator
