/// An arena of oneTBB whose threads are ours.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace convfilt {

/// Threads that run oneTBB's tasks. If the system refuses a thread, oneTBB ends the program or
/// hangs. So while an Arena lives oneTBB starts no threads: we start them, and they enter the
/// arena. With fewer threads the work takes longer.
class Arena {
 public:
  /// Has room for that many threads, and has the caller's.
  explicit Arena(int threads);
  /// Ends the others.
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Starts threads until there are that many with the caller's, or as many as there is room for,
  /// or as many as the system gives. Several threads may call it at once.
  void grow(int threads);
  void grow_to_room() { grow(int(most_others_) + 1); }

  /// Calls `work` as one of the arena's threads, of which any may run the tasks that it makes.
  /// Besides the threads above there may be one more caller at a time.
  template <class Work>
  void execute(const Work& work) {
    arena_.execute([&] {
      const Inside inside(this);
      work();
    });
  }

  /// The arena whose thread calls it; null for all other threads.
  static Arena* current() { return current_; }

 private:
  /// Makes an arena the thread's current one.
  class Inside {
   public:
    explicit Inside(Arena* arena) : before_(std::exchange(current_, arena)) {}
    ~Inside() { current_ = before_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Arena* before_;
  };
  struct Other {
    oneapi::tbb::task_group tasks;
    oneapi::tbb::task_handle open;  ///< while it is there, waiting for the tasks has no end
    std::thread thread;
  };

  static inline constinit thread_local Arena* current_ = nullptr;

  oneapi::tbb::global_control no_others_;
  oneapi::tbb::task_arena arena_;
  const std::size_t most_others_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Other>> others_;
};

}  // namespace convfilt
