// Threads of a block are fibers of Boost.Context on one CPU thread. Where a device thread ends
// without having met a barrier, its fiber goes on with the next device thread, so that kernels
// without barriers cost no switches.

#include "kernels/backend/emulator/emulator.hpp"

#include <algorithm>
#include <atomic>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/backend/host/parallel.hpp"

// AddressSanitizer must hear of every switch between stacks.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define CONVFILT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define CONVFILT_ASAN 1
#endif
#endif

namespace convfilt::emulator {
namespace {

namespace context = boost::context;

#ifdef CONVFILT_ASAN
constexpr std::size_t kStackBytes = 256 * 1024;  // red zones make frames several times larger
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif

/// Calls that tell AddressSanitizer when another stack is used.
inline void start_switch([[maybe_unused]] void** fake, [[maybe_unused]] const void* bottom,
                         [[maybe_unused]] std::size_t size) {
#ifdef CONVFILT_ASAN
  __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
}
inline void finish_switch([[maybe_unused]] void* fake, [[maybe_unused]] const void** bottom,
                          [[maybe_unused]] std::size_t* size) {
#ifdef CONVFILT_ASAN
  __sanitizer_finish_switch_fiber(fake, bottom, size);
#endif
}

/// The threads of a warp that have not begun. take() gives the next one, by rising x, then y, then
/// z.
struct WarpThreads {
  dim3 block;
  std::uint32_t next, end;
  Index3 index;  ///< the next thread's

  bool none() const { return next == end; }

  Index3 take() {
    const Index3 taken = index;
    ++next;
    if (++index.x == int(block.x)) {
      index.x = 0;
      if (++index.y == int(block.y)) {
        index.y = 0;
        ++index.z;
      }
    }
    return taken;
  }
};

/// Unwinds a device thread whose block was given up.
struct Abandoned {};

/// A stack to run device threads on, one after another.
class Fiber {
 public:
  Fiber() {
    context::fixedsize_stack allocator(kStackBytes);
    const context::stack_context stack = allocator.allocate();
    bottom_ = static_cast<char*>(stack.sp) - stack.size;
    size_ = stack.size;
    fiber_ = context::fiber(
        std::allocator_arg, context::preallocated(stack.sp, stack.size, stack), allocator,
        [this](context::fiber&& scheduler) { return run(std::move(scheduler)); });
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
    stop_ = true;
    resume();
  }

  /// Runs device threads, one after another, until all have ended or one waits at a barrier.
  void start(const std::function<void()>& kernel, WarpThreads& threads) {
    kernel_ = &kernel;
    threads_ = &threads;
    ended_ = false;
    switch_here();
  }

  /// Lets the thread go on where it waits, at a barrier or for its warp.
  void resume() {
    threadIdx = index_;
    running.thread = linear_;
    running.meetings = meetings_;
    running.warp_barriers = warp_barriers_;
    switch_here();
  }

  bool ended() const { return ended_; }

  /// Whether it waits for its warp alone.
  bool meets_warp() const { return meets_warp_; }

  /// The device thread calls it to let the block's other threads run.
  void wait() {
    const bool uncommitted = running.uncommitted;
    switch_back();
    running.uncommitted = uncommitted;
    if (stop_) throw Abandoned();
  }

  /// The device thread calls it to wait for its warp, and to see what the warp wrote before.
  void synchronise_warp() {
    ++warp_barriers_;
    meet_warp();
  }

  /// The device thread calls it to wait for its warp.
  void meet_warp() {
    ++meetings_;
    meets_warp_ = true;
    wait();
    meets_warp_ = false;
  }

  static inline constinit thread_local Fiber* current = nullptr;

 private:
  context::fiber run(context::fiber&& scheduler) {
    finish_switch(nullptr, &scheduler_bottom_, &scheduler_size_);
    scheduler_ = std::move(scheduler);
    while (!stop_) {
      // A fiber whose thread waited finds that another fiber has taken the threads behind it.
      while (!stop_ && !error_ && !threads_->none()) run_thread();
      ended_ = true;
      if (!stop_) switch_back();
    }
    start_switch(nullptr, scheduler_bottom_, scheduler_size_);  // null gives this stack up
    return std::move(scheduler_);
  }

  void run_thread() {
    linear_ = threads_->next;
    index_ = threads_->take();
    meetings_ = warp_barriers_ = 0;
    meets_warp_ = false;
    threadIdx = index_;
    running.thread = linear_;
    running.meetings = running.warp_barriers = 0;
    running.uncommitted = false;
    try {
      (*kernel_)();
    } catch (const Abandoned&) {
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  void switch_here() {
    current = this;
    void* fake_stack = nullptr;
    start_switch(&fake_stack, bottom_, size_);
    fiber_ = std::move(fiber_).resume();
    finish_switch(fake_stack, nullptr, nullptr);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  void switch_back() {
    void* fake_stack = nullptr;
    start_switch(&fake_stack, scheduler_bottom_, scheduler_size_);
    scheduler_ = std::move(scheduler_).resume();
    finish_switch(fake_stack, &scheduler_bottom_, &scheduler_size_);
  }

  const std::function<void()>* kernel_ = nullptr;
  WarpThreads* threads_ = nullptr;
  context::fiber fiber_, scheduler_;
  Index3 index_;
  std::uint32_t linear_ = 0, meetings_ = 0, warp_barriers_ = 0;
  bool ended_ = true, stop_ = false, meets_warp_ = false;
  std::exception_ptr error_;
  char* bottom_ = nullptr;
  std::size_t size_ = 0;
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_size_ = 0;
};

/// Runs blocks on one CPU thread. It keeps its fibers for the next block.
class BlockRunner {
 public:
  /// Counts what the block's warps do if `watched`, and writes down its reads unless `recorder` is
  /// null.
  void run(const dim3& block, bool watched, Recorder* recorder,
           const std::function<void()>& kernel) {
    try {
      const std::uint64_t before = cells_asked_for();
      const std::uint64_t samples_before = samples_read();
      running.watch = watched ? &watch_ : nullptr;
      running.recorder = recorder;
      if (watched) watch_.begin(int(block.x * block.y * block.z));
      if (recorder) recorder->begin_block(block);
      run_phases(block, kernel);
      running.recorder = nullptr;
      const bool reads = cells_asked_for() != before;
      if (watched && reads) watch_.end(running.counts.warps);
      if (recorder) recorder->end_block(samples_read() - samples_before);
      if (reads) ++running.counts.blocks;
    } catch (...) {
      running.recorder = nullptr;
      fibers_.clear();  // unwinds those that still wait
      throw;
    }
  }

 private:
  static std::uint64_t samples_read() {
    return running.counts.global_reads + running.counts.texture_fetches;
  }
  static std::uint64_t cells_asked_for() { return samples_read() + running.counts.ghost_cells; }

  void run_phases(const dim3& block, const std::function<void()>& kernel) {
    running.first_phase = ++running.phase;
    blockDim = Index3{int(block.x), int(block.y), int(block.z)};
    const std::size_t threads = std::size_t(block.x) * block.y * block.z;
    std::size_t first = 0;    // the warp's first fiber
    std::size_t waiting = 0;  // fibers before this one wait at a barrier
    WarpThreads warp{block, 0, 0, {0, 0, 0}};
    while (warp.end < threads) {
      warp.end = std::uint32_t(std::min(warp.end + kWarp, threads));
      while (!warp.none()) {
        if (waiting == fibers_.size()) fibers_.push_back(std::make_unique<Fiber>());
        fibers_[waiting]->start(kernel, warp);
        if (!fibers_[waiting]->ended()) ++waiting;
      }
      first = waiting = run_to_barrier(first, waiting);
    }
    std::size_t expected = threads;
    while (waiting > 0) {
      if (waiting != expected) fail(kEndedEarly);
      expected = waiting;
      ++running.phase;
      ++running.counts.barriers;
      if (running.watch) running.watch->barrier();
      waiting = 0;
      for (first = 0; first < expected; first += kWarp) {
        const std::size_t last = std::min(first + kWarp, expected);
        for (std::size_t k = first; k < last; ++k) fibers_[k]->resume();
        waiting += run_to_barrier(first, last) - first;
      }
    }
  }

  /// Lets a warp's threads, fibers first..last-1, meet until all wait at a barrier or have ended.
  /// Returns the end of those that wait at a barrier.
  std::size_t run_to_barrier(std::size_t first, std::size_t last) {
    const auto count = [&](bool (Fiber::*what)() const) {
      std::size_t n = 0;
      for (std::size_t k = first; k < last; ++k) n += (*fibers_[k].*what)();
      return n;
    };
    while (const std::size_t meeting = count(&Fiber::meets_warp)) {
      if (meeting != kWarp) fail("some threads of a warp are missing where the others meet");
      for (std::size_t k = first; k < last; ++k) fibers_[k]->resume();
    }
    const std::size_t ended = count(&Fiber::ended);
    if (ended > 0 && first + ended != last) fail(kEndedEarly);
    return last - ended;
  }

  static constexpr std::size_t kWarp = 32;
  static constexpr const char* kEndedEarly =
      "some threads of a block ended before a barrier where others wait";

  std::vector<std::unique_ptr<Fiber>> fibers_;
  WarpWatch watch_;
};

constexpr std::uint64_t kBlocksWorthAThread = 8;

}  // namespace

void fail(const char* what) {
  const auto text = [](const Index3& i) {
    return std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z);
  };
  const Index3 thread{threadIdx.x, threadIdx.y, threadIdx.z};
  throw EmulatorError(std::string("emulator: ") + what + " (block " + text(blockIdx) + ", thread " +
                      text(thread) + ")");
}

void synchronise_block() {
  Fiber::current->wait();
}

void synchronise_warp() {
  Fiber::current->synchronise_warp();
}

void meet_warp() {
  Fiber::current->meet_warp();
}

void Recorder::begin_block(const dim3& block) {
  recording_.block_columns = int(block.x);
  recording_.block_rows = int(block.y);
  recording_.threads.resize(std::size_t(block.x) * block.y);
  first_ = recording_.reads.size();
  last_ = kNone;
  samples_.clear();
}

void Recorder::end_block(std::uint64_t counted) {
  recording_.counted += counted - std::exchange(weights_, 0);
  for (std::size_t k = first_; k < recording_.reads.size(); ++k) {
    SampleRead& read = recording_.reads[k];
    const std::size_t thread =
        std::size_t(read.thread_y) * recording_.block_columns + read.thread_x;
    if (!read.kept) use(read, recording_.threads[thread]);
  }
}

void Recorder::read(int x, int y) {
  last_ = recording_.reads.size();
  recording_.reads.push_back({x, y, threadIdx.x, threadIdx.y, recording_.launches});
}

void Recorder::store(const void* cell) {
  samples_.erase(cell);
  if (SampleRead* const read = pending()) {
    read->kept = true;
    samples_[cell] = last_;
  }
  last_ = kNone;
}

void Recorder::use(const void* cell) {
  const auto found = samples_.find(cell);
  if (found != samples_.end())
    use(recording_.reads[found->second], recording_.threads[running.thread]);
}

void Recorder::add() {
  if (SampleRead* const read = pending()) {
    read->kept = true;
    use(*read, recording_.threads[running.thread]);
  }
}

SampleRead* Recorder::pending() {
  if (last_ == kNone) return nullptr;
  SampleRead& read = recording_.reads[last_];
  return read.thread_x == threadIdx.x && read.thread_y == threadIdx.y ? &read : nullptr;
}

void Recorder::use(SampleRead& read, ThreadUses& thread) {
  ++read.uses;
  ++thread.count;
  thread.left = std::min(thread.left, read.x);
  thread.right = std::max(thread.right, read.x);
  thread.top = std::min(thread.top, read.y);
  thread.bottom = std::max(thread.bottom, read.y);
}

void run_grid(dim3 grid, dim3 block, int threads, Counts& total,
              const std::function<void()>& kernel, Watch watch, Recording* recording) {
  constexpr unsigned kMostBlocks = 65535;  // along y and z (CUDA C++ Programming Guide)
  if (grid.y > kMostBlocks || grid.z > kMostBlocks)
    throw EmulatorError(
        "emulator: a grid has more than 65535 blocks along y or z, as no GPU takes");
  std::uint64_t blocks = std::uint64_t(grid.x) * grid.y * grid.z;
  std::atomic<std::uint64_t> next{0};
  if (watch == Watch::first && total.global_reads + total.ghost_cells > 0) return;
  if (watch == Watch::middle || watch == Watch::first) {
    next = (std::uint64_t(grid.z / 2) * grid.y + grid.y / 2) * grid.x + grid.x / 2;
    blocks = next + 1;
  }
  std::mutex mutex;
  std::optional<Recorder> recorder;
  if (recording && (recording->every_block || recording->reads.empty()))
    recorder.emplace(*recording);
  const bool every_block = recorder && recording->every_block;
  std::uint64_t recorded = grid.y / 2 * grid.x + grid.x / 2;
  if (recorder && recording->at_x >= 0) {
    next = recorded = std::uint64_t(recording->at_y) * grid.x + unsigned(recording->at_x);
    blocks = std::min(blocks, recorded + 1);
  }
  const std::size_t reads = recording ? recording->reads.size() : 0;
  const auto work = [&](int, int) {
    running.counts = {};
    try {
      static thread_local BlockRunner runner;
      for (std::uint64_t b; (b = next.fetch_add(1)) < blocks;) {
        blockIdx = {int(b % grid.x), int(b / grid.x % grid.y), int(b / grid.x / grid.y)};
        const bool records = recorder && (every_block || b == recorded);
        runner.run(block, watch != Watch::nothing, records ? &*recorder : nullptr, kernel);
      }
    } catch (...) {
      next = blocks;
      throw;
    }
    const std::lock_guard lock(mutex);
    add(total, running.counts);
  };
  std::uint64_t wanted = threads > 0 ? unsigned(threads) : std::thread::hardware_concurrency();
  wanted = std::clamp<std::uint64_t>(blocks / kBlocksWorthAThread, 1,
                                     std::max<std::uint64_t>(wanted, 1));
  if (every_block) wanted = 1;
  cpu::parallel_for(int(wanted), int(wanted), work);
  if (recording && recording->reads.size() > reads) ++recording->launches;
}

}  // namespace convfilt::emulator
