/// Stacks for the emulator's device threads, which are fibers of Boost.Context.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "kernels/backend/emulator/cuda_words.hpp"
#include "kernels/backend/emulator/emulator.hpp"

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

namespace context = boost::context;

#ifdef CONVFILT_ASAN
constexpr std::size_t kStackBytes = 256 * 1024;  // red zones make frames several times larger
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif

/// What AddressSanitizer must hear when another stack is used.
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

}  // namespace convfilt::emulator
