/// The emulator's side of launch.hpp: a meaning on the CPU for the CUDA words that the kernels use.
///
/// Blocks spread over the cores; the threads of a block are fibers that switch at __syncthreads().
/// Reads are counted. EmulatorError is thrown at a read outside the image, at a read of shared
/// memory that this block never wrote, and at a read of what another thread wrote since the last
/// barrier of the block or of their warp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "kernels/backend/emulator/cuda_words.hpp"
#include "kernels/backend/emulator/emulator.hpp"
#include "kernels/backend/emulator/owners.hpp"
#include "kernels/backend/emulator/shared_cells.hpp"

#define CONVFILT_DEVICE
#define CONVFILT_CALLED
#define __shared__ static thread_local
#define __syncthreads() ::convfilt::emulator::synchronise_block()
#define __syncwarp() ::convfilt::emulator::synchronise_warp()
#define CONVFILT_UNROLL(turns)
#define CONVFILT_BACKEND emulator

namespace convfilt::emulator {

using std::max;
using std::min;

/// Tells the watch of an access to global memory.
template <class T>
void watch_global(const T* at, std::size_t samples, bool writes, const CallSite& place) {
  watch_access(Memory::global, place, writes, reinterpret_cast<std::uintptr_t>(at),
               samples * sizeof(T));
}

/// Writes down the reads of so many samples from (x, y) on, where the block is recorded.
inline void record_reads(int x, int y, int samples) {
  if (!running.recorder) return;
  for (int k = 0; k < samples; ++k) running.recorder->read(x + k, y);
}

/// Reads a sample of the input in global memory. The read is counted, and checked against the view.
template <class T>
T load(const PlaneView<const T>& in, int x, int y, const CallSite& place = CallSite::current()) {
  if (x < 0 || y < 0 || x >= in.width || y >= in.height) fail("a kernel read outside its input");
  ++running.counts.global_reads;
  watch_global(in.row(y) + x, 1, false, place);
  record_reads(x, y, 1);
  return in.row(y)[x];
}

/// The sample under weight (i, j) of a mask whose first weight lies over (x, y).
template <class T>
T load(const PlaneView<const T>& in, int x, int y, int i, int j,
       const CallSite& place = CallSite::current()) {
  return load(in, x + i, y + j, place);
}

/// The same past a cache, which counts nothing else.
template <class T>
T load_past_l1(const PlaneView<const T>& in, int x, int y, int i, int j,
               const CallSite& place = CallSite::current()) {
  return load(in, x + i, y + j, place);
}

/// The k-th weight, in row order, of a mask that lies in global memory. It counts as a read, and
/// ends a lane's turn, as count_mask_read() does.
template <class Sum>
Sum load_weight(const Sum* weights, int k, const CallSite& place = CallSite::current()) {
  ++running.counts.global_reads;
  watch_global(weights + k, 1, false, place);
  if (running.recorder) running.recorder->weight();
  watch_turn();
  return weights[k];
}

/// Follows each write of an output, or of a sum that the mask's next part takes on.
template <class T>
void count_write(const PlaneView<T>& out, int x, int y,
                 const CallSite& place = CallSite::current()) {
  ++running.counts.global_writes;
  watch_global(out.row(y) + x, 1, true, place);
}

/// Follows each addition to a sum that no other thread adds to meanwhile.
template <class T>
void count_add(const PlaneView<T>& sums, int x, int y,
               const CallSite& place = CallSite::current()) {
  ++running.counts.sum_adds;
  for (const bool writes : {false, true}) watch_global(sums.row(y) + x, 1, writes, place);
}

/// Reads neighbouring samples at once, at an address that is a multiple of their size. Each counts
/// as a read.
template <class Together, class T>
Together load_together(const PlaneView<const T>& in, int x, int y, const char* leave,
                       const char* between, const CallSite& place) {
  constexpr int kSamples = int(sizeof(Together) / sizeof(T));
  if (x < 0 || y < 0 || x + kSamples > in.width || y >= in.height) fail(leave);
  const T* const from = in.row(y) + x;
  if (std::uintptr_t(from) % sizeof(Together) != 0) fail(between);
  running.counts.global_reads += kSamples;
  watch_global(from, kSamples, false, place);
  record_reads(x, y, kSamples);
  Together together;
  std::memcpy(&together, from, sizeof together);
  return together;
}

/// Four samples from (x, y) on.
template <class T>
Four<T> load4(const PlaneView<const T>& in, int x, int y,
              const CallSite& place = CallSite::current()) {
  return load_together<Four<T>>(
      in, x, y, "a kernel read four samples that leave its input",
      "a kernel read four samples at an address that is no multiple of their size", place);
}

/// The samples of 16 bytes from (x, y) on.
template <class T>
Bytes16 load16(const PlaneView<const T>& in, int x, int y,
               const CallSite& place = CallSite::current()) {
  return load_together<Bytes16>(in, x, y, "a kernel read 16 bytes that leave its input",
                                "a kernel read 16 bytes at an address that is no multiple of 16",
                                place);
}

/// Four neighbouring cells of a shared tile, at an address that is a multiple of their size.
template <class T, int rows, int columns>
Four<T> shared4(SharedTile<T, rows, columns>& tile, int row, int column) {
  if ((row * columns + column) % 4 != 0) {
    fail("a kernel read four cells at an address that is no multiple of their size");
  }
  Four<T> four;
  for (int k = 0; k < 4; ++k) four.samples[k] = tile[row][column + k];
  return four;
}

template <class T>
void prefetch(const PlaneView<const T>& in, int x, int y) {
  if (x < 0 || y < 0 || x >= in.width || y >= in.height)
    fail("a kernel prefetched beside its input");
}

inline void count_ghost_cell() {
  ++running.counts.ghost_cells;
  watch_access(Memory::none, CallSite());
}

/// A lane's turn ends behind the weight of a tap, so that all are together at the next.
inline void count_mask_read() {
  ++running.counts.mask_reads;
  watch_turn();
}

/// Adds to a cell that other threads may add to: blocks run on several CPU threads.
template <class T>
void atomic_add(T& cell, T value, const CallSite& place = CallSite::current()) {
  ++running.counts.atomic_adds;
  watch_global(&cell, 1, true, place);
  if (running.recorder) running.recorder->add();
  std::atomic_ref<T>(cell).fetch_add(value, std::memory_order_relaxed);
}

/// Plays the texture unit with point sampling: it applies the address mode, and gives the sample in
/// whose cell the coordinate lies.
template <class T>
T tex2D(cudaTextureObject_t texture, float x, float y,
        const CallSite& place = CallSite::current()) {
  const auto address = [&](float coordinate, int size) -> int {
    const float at = texture->normalised ? coordinate * float(size) : coordinate;
    const int i = int(std::floor(at));
    switch (texture->mode) {
      case cudaAddressModeWrap: return border_index<Border::wrap>(i, size);
      case cudaAddressModeMirror: return border_index<Border::reflect>(i, size);
      case cudaAddressModeBorder: return border_index<Border::constant>(i, size);
      case cudaAddressModeClamp: break;
    }
    return border_index<Border::replicate>(i, size);
  };
  const int i = address(x, texture->width), j = address(y, texture->height);
  if (i < 0 || j < 0) {
    count_ghost_cell();
    return T(0);
  }
  ++running.counts.texture_fetches;
  watch_access(Memory::none, place);
  record_reads(i, j, 1);
  return reinterpret_cast<const T*>(texture->data + j * texture->pitch)[i];
}

template <class... Parameters, class... Arguments>
void launch(dim3 grid, dim3 block, const Stream& stream, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  run_grid(
      grid, block, stream.threads(), stream.total(), [&] { kernel(arguments...); }, stream.watch(),
      stream.recording());
}

}  // namespace convfilt::emulator
