#include "kernels/backend/host/arena.hpp"

#include <oneapi/tbb/cache_aligned_allocator.h>

#include <cstddef>
#include <exception>

namespace convfilt {

Arena::Arena(int threads)
    : no_others_(oneapi::tbb::global_control::max_allowed_parallelism, 1),
      // All places are kept for threads that come in, so that oneTBB has none to send.
      arena_(threads + 1, unsigned(threads + 1)),
      most_others_(std::size_t(threads - 1)) {
  // While oneTBB 2022 makes its first arena, it asks for memory under a lock that its exception
  // takes, too: without memory it hangs. It keeps what it gets here, and then asks for no more.
  constexpr std::size_t kOfFirstArena = std::size_t{256} << 10;
  oneapi::tbb::cache_aligned_allocator<std::byte> memory;
  memory.deallocate(memory.allocate(kOfFirstArena), kOfFirstArena);
  arena_.initialize();
}

void Arena::grow(int threads) {
  const std::lock_guard lock(mutex_);
  try {
    others_.reserve(most_others_);
    while (others_.size() < most_others_ && int(others_.size()) < threads - 1) {
      auto other = std::make_unique<Other>();
      other->open = other->tasks.defer([] {});
      other->thread = std::thread([this, &tasks = other->tasks] {
        try {
          execute([&] { tasks.wait(); });
        } catch (const std::exception&) {
          // There is no memory to come in; the others do the work.
        }
      });
      others_.push_back(std::move(other));
    }
  } catch (const std::exception&) {
    // The system gives no more threads. Those that there are do the work.
  }
}

Arena::~Arena() {
  for (const std::unique_ptr<Other>& other : others_) other->open = {};
  for (const std::unique_ptr<Other>& other : others_) other->thread.join();
}

}  // namespace convfilt
