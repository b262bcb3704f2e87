#include "kernels/backend/host/parallel.hpp"

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "kernels/backend/host/arena.hpp"

namespace convfilt::cpu {
namespace {

// Starting and joining a thread takes some 30 us, in which one core does over a million
// multiply-adds of 8-bit pictures and about 100 thousand of the slowest kind.
constexpr std::int64_t kMultiplyAddsPerThread = 1 << 18;

}  // namespace

int threads_or_all(int wanted) {
  return wanted > 0 ? wanted : std::max(1, int(std::thread::hardware_concurrency()));
}

int threads_for(std::int64_t multiply_adds, int wanted) {
  return int(
      std::clamp<std::int64_t>(multiply_adds / kMultiplyAddsPerThread, 1, threads_or_all(wanted)));
}

void parallel_for(int count, int threads, const std::function<void(int, int)>& task) {
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto work = [&](int worker) {
    try {
      for (int index; (index = next.fetch_add(1)) < count;) task(worker, index);
    } catch (...) {
      next.store(count);
      const std::lock_guard lock(failure_lock);
      if (!failure) failure = std::current_exception();
    }
  };
  const int workers = std::min(threads, count);
  const auto share_work = [&] {
    oneapi::tbb::task_group others;
    try {
      for (int worker = 1; worker < workers; ++worker) others.run([&, worker] { work(worker); });
    } catch (const std::exception&) {
      // There is no memory for more tasks. Those that there are, and this thread, do the work.
    }
    work(0);
    others.wait();
  };
  std::optional<Arena> own;
  Arena* arena = Arena::current();
  try {
    if (!arena && workers > 1) arena = &own.emplace(workers);
  } catch (const std::exception&) {
    // There is no memory for an arena. This thread does the work.
  }
  if (arena && workers > 1) {
    // Others share their work at the same time, so `workers` threads may be too few.
    arena->grow_to_room();
    // While it waits for the others, this thread must begin nothing else.
    arena->execute([&] { oneapi::tbb::this_task_arena::isolate(share_work); });
  } else {
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace convfilt::cpu
