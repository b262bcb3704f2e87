/// The emulator's side of tensor_core.hpp: the lanes of a warp show each other their fragments, and
/// each computes its own sums from them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/backend/emulator/backend.hpp"

namespace convfilt::emulator {

inline constexpr int kLanes = 32;

/// Sixteen bytes as one instruction moves them.
using Sixteen = Four<std::uint32_t>;

/// One lane's part of a and b.
struct Fragments {
  std::uint32_t a[4], b[2];
};

/// The fragments that the lanes of the running warp show each other. Two sets take turns, since a
/// lane may write the next ones while others still read.
inline constinit thread_local Fragments fragments[2][kLanes];

/// The sum of the products of four bytes of type A and four of type B. It wraps as on a device.
template <class A, class B>
std::uint32_t products(std::uint32_t a, std::uint32_t b) {
  const auto product = [&](int shift) { return int(A(a >> shift)) * int(B(b >> shift)); };
  return std::uint32_t(product(0) + product(8) + product(16) + product(24));
}

/// Adds a * b to the sums: 16 x (16 * words) bytes times (16 * words) x 8.
template <class B, class A = std::uint8_t, int words>
void mma(std::int32_t (&sums)[4], const std::uint32_t (&a)[2 * words],
         const std::uint32_t (&b)[words]) {
  const int lane = int(running.thread % kLanes), g = lane / 4, t = lane % 4;
  Fragments(&all)[kLanes] = fragments[running.meetings % 2];
  std::copy_n(a, 2 * words, all[lane].a);
  std::copy_n(b, words, all[lane].b);
  meet_warp();
  for (int q = 0; q < 4; ++q) {
    const int row = g + q / 2 * 8, column = 2 * t + q % 2;
    std::uint32_t sum = std::uint32_t(sums[q]);
    for (int k = 0; k < words; ++k) {
      for (int from = 0; from < 4; ++from) {
        sum +=
            products<A, B>(all[row % 8 * 4 + from].a[row / 8 + k * 2], all[column * 4 + from].b[k]);
      }
    }
    sums[q] = std::int32_t(sum);
  }
}

/// sums = before + a * b.
template <class B, class A = std::uint8_t, int words>
void mma(std::int32_t (&sums)[4], const std::uint32_t (&a)[2 * words],
         const std::uint32_t (&b)[words], const std::int32_t (&before)[4]) {
  std::copy_n(before, 4, sums);
  mma<B, A>(sums, a, b);
}

inline std::int32_t kept(std::int32_t value, int) {
  return value;
}

/// Sixteen bytes of a row of a tile, from a word on whose address is a multiple of 16.
template <int rows, int columns>
Sixteen read16(SharedTile<std::uint32_t, rows, columns>& tile, int row, int word) {
  if ((row * columns + word) % 4 != 0) fail("a kernel read sixteen bytes from a place between");
  Sixteen bytes;
  for (int k = 0; k < 4; ++k) bytes.samples[k] = tile[row][word + k];
  return bytes;
}

template <int rows, int columns>
void write16(SharedTile<std::uint32_t, rows, columns>& tile, int row, int word,
             const Sixteen& bytes) {
  if ((row * columns + word) % 4 != 0) fail("a kernel wrote sixteen bytes to a place between");
  for (int k = 0; k < 4; ++k) tile[row][word + k] = bytes.samples[k];
}

/// Copies sixteen samples from in.data + at on to four words of a tile. Both addresses must be
/// multiples of 16. Where only `count` samples exist, zeros are written behind them.
template <int rows, int columns>
void copy16(const PlaneView<const std::uint8_t>& in, std::ptrdiff_t at,
            SharedTile<std::uint32_t, rows, columns>& tile, int row, int word, int count = 16) {
  if (at < 0 || at % in.stride + count > in.width || at / in.stride >= in.height) {
    fail("a kernel read sixteen samples that leave its input");
  }
  const std::uint8_t* const from = in.data + at;
  if (std::uintptr_t(from) % 16 != 0 || (row * columns + word) % 4 != 0) {
    fail("a kernel copied sixteen samples from or to an address that is no multiple of 16");
  }
  running.counts.global_reads += std::uint64_t(count);
  running.uncommitted = true;
  Sixteen samples{};
  std::memcpy(&samples, from, std::size_t(count));
  write16(tile, row, word, samples);
}

/// Does the same from (x, y) on.
template <int rows, int columns>
void copy16(const PlaneView<const std::uint8_t>& in, int x, int y,
            SharedTile<std::uint32_t, rows, columns>& tile, int row, int word) {
  copy16(in, y * in.stride + x, tile, row, word);
}

/// A byte of a row of a tile.
template <int rows, int columns>
std::uint32_t byte_at(SharedTile<std::uint32_t, rows, columns>& tile, int row, int byte) {
  return tile[row][byte / 4] >> (byte % 4 * 8) & 255;
}

inline void commit_copies() {
  running.uncommitted = false;
}

template <int>
void finish_copies() {
  if (running.uncommitted) fail("a kernel waits for copies of which it has not committed the last");
}

}  // namespace convfilt::emulator
