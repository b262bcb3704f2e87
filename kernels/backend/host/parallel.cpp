#include "kernels/backend/host/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

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
  std::vector<std::thread> others;
  others.reserve(std::size_t(threads));
  try {
    for (int worker = 1; worker < std::min(threads, count); ++worker) {
      others.emplace_back(work, worker);
    }
  } catch (const std::exception&) {
    // The system gives no more threads. Those that run, and this one, do the work.
  }
  work(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace convfilt::cpu
