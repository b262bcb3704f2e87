#include "kernels/backend/host/parallel.hpp"

#include <doctest/doctest.h>
#include <oneapi/tbb/global_control.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/backend/host/arena.hpp"

using namespace convfilt;

namespace {

constexpr int kCount = 200, kThreads = 3;

/// How often each index was done, and by which arena's threads.
struct Done {
  std::vector<std::atomic<int>> times = std::vector<std::atomic<int>>(kCount);
  std::atomic<int> elsewhere = 0, wrong_workers = 0;

  void run(Arena* expected) {
    cpu::parallel_for(kCount, kThreads, [&](int worker, int index) {
      ++times[std::size_t(index)];
      if (Arena::current() != expected) ++elsewhere;
      if (worker < 0 || worker >= kThreads) ++wrong_workers;
      std::this_thread::yield();
    });
  }
};

void check_once(const Done& done) {
  for (const std::atomic<int>& times : done.times) CHECK(times == 1);
  CHECK(done.elsewhere == 0);
  CHECK(done.wrong_workers == 0);
}

}  // namespace

TEST_CASE("a loop does each index once, on the threads of the caller's arena where there is one") {
  Done outside;
  outside.run(nullptr);
  check_once(outside);

  Arena arena(kThreads);
  Done inside;
  arena.execute([&] { inside.run(&arena); });
  check_once(inside);
}

TEST_CASE("a loop outside an arena leaves oneTBB's threads to the caller") {
  using oneapi::tbb::global_control;
  const auto allowed = [] {
    return global_control::active_value(global_control::max_allowed_parallelism);
  };
  const global_control four(global_control::max_allowed_parallelism, 4);
  const std::size_t before = allowed();
  REQUIRE(before > 1);
  std::atomic<int> fewer = 0;
  cpu::parallel_for(kCount, kThreads, [&](int, int) { fewer += allowed() < before; });
  CHECK(fewer == 0);
}

TEST_CASE("a loop stops at the first exception, and throws it") {
  const auto throws = [] {
    cpu::parallel_for(kCount, kThreads, [](int, int index) {
      if (index == 7) throw std::runtime_error("seven");
    });
  };
  CHECK_THROWS_WITH(throws(), "seven");
  Arena arena(kThreads);
  CHECK_THROWS_WITH(arena.execute(throws), "seven");
}
