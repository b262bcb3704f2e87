/// The emulator's side of boxes.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/backend/emulator/warpgroup.hpp"

namespace convfilt::emulator {

using BoxSource = PlaneView<const std::uint8_t>;

inline BoxSource box_source(const PlaneView<const std::uint8_t>& rows) {
  if (std::uintptr_t(rows.data) % 16 != 0 || rows.stride % 16 != 0) {
    fail("rows that boxes are copied from do not lie at multiples of 16");
  }
  return rows;
}

/// Boxes begin here at the farthest place that a device may choose, so that a kernel which keeps
/// too little slack fails.
inline SharedWords box_words(SharedWords words) {
  return words.from(kBoxSlack - 4);
}

inline void copy_box_row(const BoxSource& source, int x, int y, SharedWords words, int at, int row,
                         SharedWords) {
  if (x < 0 || y < 0 || y >= source.height) fail("a kernel copied a box that leaves its input");
  const int samples = std::clamp(source.width - x, 0, kBoxBytes);
  std::uint8_t bytes[kBoxBytes] = {};
  std::memcpy(bytes, source.row(y) + x, std::size_t(samples));
  running.counts.global_reads += std::uint64_t(samples);
  for (int chunk = 0; chunk < kBoxBytes / 16; ++chunk) {
    Four<std::uint32_t> four;
    std::memcpy(&four, bytes + 16 * (chunk ^ row % 8), sizeof four);
    words.set4(at * kBoxWords + row * (kBoxBytes / 4) + chunk * 4, four);
  }
}

inline void copy_box(const BoxSource& source, int x, int y, SharedWords words, int at,
                     SharedWords arrivals) {
  for (int row = 0; row < kBoxRows; ++row) {
    copy_box_row(source, x, y + row, words, at, row, arrivals);
  }
}

inline Operand box_operand(SharedWords words) {
  return Operand(words, 16, 8 * kBoxBytes, kBoxBytes);
}

}  // namespace convfilt::emulator
