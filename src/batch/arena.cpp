#include "src/batch/arena.hpp"

#include <exception>

namespace convfilt {

Arena::Arena(int threads)
    : no_others_(oneapi::tbb::global_control::max_allowed_parallelism, 1),
      // All places are kept for threads that come in, so that oneTBB has none to send.
      arena_(threads + 1, unsigned(threads + 1)) {
  arena_.initialize();
  try {
    others_.reserve(std::size_t(threads));
    while (this->threads() < threads) {
      auto other = std::make_unique<Other>();
      other->open = other->tasks.defer([] {});
      other->thread = std::thread([this, &tasks = other->tasks] {
        try {
          arena_.execute([&] { tasks.wait(); });
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
