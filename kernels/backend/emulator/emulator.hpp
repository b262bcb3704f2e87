/// Runs a grid of blocks of fibers.
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <unordered_map>

#include "kernels/backend/emulator/cuda_words.hpp"
#include "kernels/backend/warps.hpp"

namespace convfilt::emulator {

/// A kernel did what CUDA leaves undefined.
struct EmulatorError : std::logic_error {
  using std::logic_error::logic_error;
};

/// Writes down what the running threads do.
class Recorder {
 public:
  explicit Recorder(Recording& recording) : recording_(recording) {}

  void begin_block(const dim3& block);
  /// `counted` reads of samples and weights were counted in it.
  void end_block(std::uint64_t counted);

  /// The running thread reads a sample.
  void read(int x, int y);
  /// It reads a weight.
  void weight() { ++weights_; }
  /// It stores in a cell of shared memory, which then holds the sample if it has just read one.
  void store(const void* cell);
  /// It reads a cell of shared memory.
  void use(const void* cell);
  /// It adds to an output, which uses the sample that it has read.
  void add();

 private:
  static constexpr std::size_t kNone = std::size_t(-1);

  /// The read of the running thread that it has not stored; null when there is none.
  SampleRead* pending();
  void use(SampleRead& read, ThreadUses& thread);

  Recording& recording_;
  std::uint64_t weights_ = 0;                             ///< reads of them in the block
  std::size_t first_ = 0;                                 ///< the block's first read
  std::size_t last_ = kNone;                              ///< the last one, unless it was stored
  std::unordered_map<const void*, std::size_t> samples_;  ///< the reads whose samples cells hold
};

/// State of the running fiber. Each CPU thread has one.
struct Running {
  Counts counts;
  std::uint64_t phase = 0;          ///< grows at every barrier and every new block
  std::uint64_t first_phase = 0;    ///< the phase in which this block began
  std::uint32_t thread = 0;         ///< linear index in the block
  std::uint32_t meetings = 0;       ///< how often it has met its warp
  std::uint32_t warp_barriers = 0;  ///< how many of these were barriers
  bool uncommitted = false;         ///< whether it has begun copies since commit_copies()
  WarpWatch* watch = nullptr;       ///< null where PlanOptions::watch names another block
  Recorder* recorder = nullptr;     ///< where this block is recorded
};

inline constinit thread_local Running running;

/// Where a kernel's source accesses memory. It is the default of a last parameter.
using CallSite = std::source_location;

/// Tells the watch, if there is one, of an access of the running thread.
inline void watch_access(Memory memory, const CallSite& place, bool writes = false,
                         std::uintptr_t address = 0, std::size_t bytes = 0) {
  if (running.watch == nullptr) [[likely]]
    return;
  const auto file = reinterpret_cast<std::uintptr_t>(place.file_name());
  const std::uint64_t at =
      std::uint64_t(place.line()) << 16 | place.column() << 1 | unsigned(writes);
  running.watch->access(running.thread, file << 40 ^ at << 2 ^ unsigned(memory), memory, address,
                        std::uint32_t(bytes));
}

inline void watch_turn() {
  if (running.watch != nullptr) [[unlikely]]
    running.watch->turn(running.thread);
}

inline void watch_sweep() {
  if (running.watch != nullptr) [[unlikely]]
    running.watch->sweep(running.thread);
}

/// An index whose x calls `kRead` where a thread reads it.
template <void (*kRead)()>
struct WatchedIndex {
  class Column {
   public:
    constexpr Column(int value) : value_(value) {}
    operator int() const {
      kRead();
      return value_;
    }

   private:
    int value_;
  };

  Column x;
  int y, z;
  constexpr WatchedIndex(const Index3& i = {}) : x(i.x), y(i.y), z(i.z) {}
};

inline constinit thread_local WatchedIndex<watch_sweep> threadIdx;
inline constinit thread_local WatchedIndex<watch_turn> blockDim;

/// Throws EmulatorError with the thread's and block's indices.
[[noreturn]] void fail(const char* what);

/// Stands in for __syncthreads(). It waits until every thread of the block has come here.
void synchronise_block();

/// Stands in for __syncwarp(), a barrier of the 32 threads of the warp.
void synchronise_warp();

/// Waits until all 32 threads of the warp have come here. It is no barrier, since it orders no
/// memory.
void meet_warp();

/// Calls `kernel` once for each thread of each block, on that many CPU threads (0 = all cores), and
/// adds what was counted to `total`. Writes to `recording` unless it is null. Throws what a kernel
/// throws.
void run_grid(dim3 grid, dim3 block, int threads, Counts& total,
              const std::function<void()>& kernel, Watch watch = Watch::nothing,
              Recording* recording = nullptr);

}  // namespace convfilt::emulator
