/// The emulator's side of shared_words.hpp: cells that know who wrote them and when, on the heap.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/backend/emulator/backend.hpp"
#include "kernels/backend/emulator/tensor_core.hpp"

namespace convfilt::emulator {

/// The shared memory of the block that this CPU thread runs.
inline thread_local std::vector<SharedCell<std::uint32_t>> shared_cells;

/// Words of shared memory, counted from one of them.
class SharedWords {
 public:
  explicit SharedWords(int first) : first_(first) {}

  SharedWords from(int at) const { return SharedWords(first_ + at); }
  template <class Word>
  Word get(int at) const {
    return std::bit_cast<Word>(std::uint32_t(cell(at)));
  }
  template <class Word>
  void set(int at, Word word) const {
    cell(at) = std::bit_cast<std::uint32_t>(word);
  }
  template <class Word>
  Four<Word> get4(int at) const {
    check_multiple(at);
    Four<Word> four;
    for (int k = 0; k < 4; ++k) four.samples[k] = get<Word>(at + k);
    return four;
  }
  void get2(int at, std::uint32_t (&words)[2]) const {
    if ((first_ + at) % 2 != 0) fail("a kernel took two words that do not lie at a multiple of 8");
    for (int k = 0; k < 2; ++k) words[k] = get<std::uint32_t>(at + k);
  }
  template <class Word>
  void set4(int at, const Four<Word>& four) const {
    check_multiple(at);
    for (int k = 0; k < 4; ++k) set(at + k, four.samples[k]);
  }

 private:
  SharedCell<std::uint32_t>& cell(int at) const {
    if (first_ + at < 0 || std::size_t(first_ + at) >= shared_cells.size()) {
      fail("a kernel left its shared memory");
    }
    return shared_cells[std::size_t(first_ + at)];
  }
  void check_multiple(int at) const {
    if ((first_ + at) % 4 != 0)
      fail("a kernel took four words that do not lie at a multiple of 16");
  }

  int first_;
};

inline SharedWords shared_words() {
  return SharedWords(0);
}

/// Copies so many of sixteen bytes of samples to four words, and fills these up with 0.
template <class T>
void copy_part16(const T* from, int bytes, SharedWords words, int at) {
  if (std::uintptr_t(from) % 16 != 0) {
    fail("a kernel copied 16 bytes from an address that is no multiple of 16");
  }
  running.counts.global_reads += std::uint64_t(bytes) / sizeof(T);
  running.uncommitted = true;
  Four<std::uint32_t> four{};
  std::memcpy(&four, from, std::size_t(bytes));
  words.set4(at, four);
}

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
  copy_part16(in.data + from, bytes, words, at);
}

/// Copies sixteen bytes of samples from (x, y) on to four words.
template <class T>
void copy16(const PlaneView<const T>& in, int x, int y, SharedWords words, int at) {
  if (x < 0 || y < 0 || x + int(16 / sizeof(T)) > in.width || y >= in.height) {
    fail("a kernel copied 16 bytes that leave its input");
  }
  copy_part16(in.row(y) + x, 16, words, at);
}

/// Tests set it to false to play a device that does not copy rows on its own.
inline bool has_row_copies = true;

inline bool row_copies(const PlanOptions&) {
  return has_row_copies;
}

inline void start_arrivals(SharedWords, int, int) {}
inline void expect(SharedWords, int, int) {}
inline void await(SharedWords, int, int) {}
inline void hand_over() {}

template <class T>
void copy_row(const PlaneView<const T>& in, int x, int y, int samples, SharedWords words, int at,
              int) {
  constexpr int kSamples = int(16 / sizeof(T));
  if (samples % kSamples != 0) fail("a kernel copied a row of no multiple of 16 bytes");
  const bool uncommitted = running.uncommitted;  // await() waits for this copy
  for (int k = 0; k < samples; k += kSamples) {
    copy16(in, x + k, y, words, at + k / kSamples * 4);
  }
  running.uncommitted = uncommitted;
}

struct SharedLimits {
  int block = 0, multiprocessor = 0;  ///< bytes
};

/// An H200 has these; tests make them small.
inline SharedLimits shared_limits{227 * 1024, 228 * 1024};

inline SharedLimits most_shared(const PlanOptions&) {
  return shared_limits;
}

/// It is practically unlimited, so that each block has one tile, as with the other strategies.
/// Tests make it small.
inline int most_blocks = 1 << 30;

inline int multiprocessors() {
  return most_blocks;
}

template <class Kernel>
int blocks_at_once(Kernel, dim3, int) {
  return most_blocks;
}

template <class... Parameters, class... Arguments>
void launch_shared(dim3 grid, dim3 block, int bytes, const Stream& stream,
                   void (*kernel)(Parameters...), const Arguments&... arguments) {
  const auto run = [&] {
    shared_cells.resize(std::size_t(bytes) / sizeof(std::uint32_t));
    kernel(arguments...);
  };
  run_grid(grid, block, stream.threads(), stream.total(), run, stream.watch(), stream.recording());
}

}  // namespace convfilt::emulator
