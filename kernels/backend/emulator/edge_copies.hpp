/// The emulator's side of shared_words.hpp: copies where a row may end.
#pragma once

#include "kernels/backend/emulator/shared_words.hpp"

namespace convfilt::emulator {

/// Copies sixteen bytes from in.data + from on to four words. The first `bytes` of them are
/// samples, and the others, which lie in the row's padding, become 0.
template <class T>
void copy16(const PlaneView<const T>& in, std::ptrdiff_t from, SharedWords words, int at,
            int bytes) {
  if (bytes <= 0) return;
  const int x = int(from % in.stride), y = int(from / in.stride), samples = bytes / int(sizeof(T));
  if (from < 0 || bytes > 16 || x + samples > in.width || x + int(16 / sizeof(T)) > in.stride ||
      y >= in.height) {
    fail("a kernel copied 16 bytes that leave its input");
  }
  if (std::uintptr_t(in.data + from) % 16 != 0) {
    fail("a kernel copied 16 bytes from an address that is no multiple of 16");
  }
  running.counts.global_reads += std::uint64_t(samples);
  running.uncommitted = true;
  Four<std::uint32_t> four{};
  std::memcpy(&four, in.data + from, std::size_t(bytes));
  words.set4(at, four);
}

}  // namespace convfilt::emulator
