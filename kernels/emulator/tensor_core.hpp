/// The emulator's side of tensor_core.hpp: the lanes of a warp lay their fragments before each
/// other, and each computes the sums that are its own.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "backend.hpp"

namespace convfilt::emulator {

inline constexpr int kLanes = 32;

/// What one lane holds of a and b.
struct Fragments {
  std::uint32_t a[4], b[2];
};

/// Of the running warp. Two sets in turn: a lane may lay down the next while others still read.
inline constinit thread_local Fragments fragments[2][kLanes];

/// The emulator is any device.
inline void require_tensor_cores(const PlanOptions&) {}

/// sums += a * b, 16 x 16 words bytes times 16 words x 8 digits.
template <class Digit, int words>
void mma(std::int32_t (&sums)[4], const std::uint32_t (&a)[2 * words],
         const std::uint32_t (&b)[words]) {
  const int lane = int(running.thread % kLanes), g = lane / 4, t = lane % 4;
  Fragments(&all)[kLanes] = fragments[running.meetings % 2];
  std::copy_n(a, 2 * words, all[lane].a);
  std::copy_n(b, words, all[lane].b);
  meet_warp();
  for (int q = 0; q < 4; ++q) {
    const int row = g + q / 2 * 8, column = 2 * t + q % 2;
    for (int k = 0; k < 16 * words; k += 4) {  // bytes k..k+3 of a row and a column are words
      const std::uint32_t in_a = all[row % 8 * 4 + k % 16 / 4].a[row / 8 + k / 16 * 2];
      const std::uint32_t in_b = all[column * 4 + k % 16 / 4].b[k / 16];
      for (int bit = 0; bit < 32; bit += 8) {
        sums[q] += std::uint8_t(in_a >> bit) * std::int32_t(Digit(in_b >> bit));
      }
    }
  }
}

/// sums = before + a * b.
template <class Digit, int words>
void mma(std::int32_t (&sums)[4], const std::uint32_t (&a)[2 * words],
         const std::uint32_t (&b)[words], const std::int32_t (&before)[4]) {
  std::copy_n(before, 4, sums);
  mma<Digit>(sums, a, b);
}

inline std::int32_t kept(std::int32_t value, int) {
  return value;
}

/// Four samples from (x, y) on, whose address is a multiple of four.
inline std::uint32_t load_word(const PlaneView<const std::uint8_t>& in, int x, int y) {
  const auto four = load4(in, x, y);
  return std::bit_cast<std::uint32_t>(four);
}

/// Sixteen samples from (x, y) on into four words of a tile; both addresses are multiples of 16.
template <int rows, int columns>
void copy16(const PlaneView<const std::uint8_t>& in, int x, int y,
            SharedTile<std::uint32_t, rows, columns>& tile, int row, int word) {
  if (x < 0 || y < 0 || x + 16 > in.width || y >= in.height) {
    fail("a kernel read sixteen samples that leave its input");
  }
  const std::uint8_t* const from = in.row(y) + x;
  if (std::uintptr_t(from) % 16 != 0 || (row * columns + word) % 4 != 0) {
    fail("a kernel copied sixteen samples from or to an address that is no multiple of 16");
  }
  running.counts.global_reads += 16;
  for (int k = 0; k < 4; ++k) {
    std::uint32_t samples;
    std::memcpy(&samples, from + 4 * k, sizeof samples);
    tile[row][word + k] = samples;
  }
}

inline void commit_copies() {}

template <int>
void finish_copies() {}

/// Without an end, so that a block has one tile as with the other strategies; tests make it small.
inline int most_blocks = 1 << 30;

template <class Kernel>
int blocks_at_once(Kernel, dim3) {
  return most_blocks;
}

}  // namespace convfilt::emulator
