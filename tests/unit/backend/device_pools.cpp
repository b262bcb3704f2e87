/// Pools of a device's memory. Without a GPU these cases say so.
#include "kernels/backend/device_pools.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/device/callers_stream.hpp"
#include "tests/support/environment.hpp"

using namespace convfilt;

namespace {

bool is_skipped() {
  const std::string missing = test::cuda_missing();
  if (!missing.empty()) MESSAGE("skipped: " << missing);
  return !missing.empty();
}

}  // namespace

TEST_CASE("pinned memory comes back once its stream has read it, and not before") {
  if (is_skipped()) return;
  constexpr std::size_t kBytes = 1 << 20;
  test::CallersStream stream(DeviceKind::cuda);
  DevicePools pools(0);
  std::byte* const on_device = stream.allocate(kBytes);
  std::vector<std::byte> got(kBytes);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    void* const first = pools.take_pinned(kBytes);
    REQUIRE(first);
    std::memset(first, 1 + round, kBytes);
    stream.delay();
    stream.copy(on_device, static_cast<std::byte*>(first), kBytes);
    REQUIRE(pools.give_pinned(first, stream.get()));
    // Whoever has the memory next writes there at once.
    void* const second = pools.take_pinned(kBytes);
    REQUIRE(second);
    std::memset(second, 0xff, kBytes);
    stream.copy(got.data(), on_device, kBytes);
    stream.wait();
    CHECK(std::ranges::all_of(got, [&](std::byte b) { return int(b) == 1 + round; }));
    REQUIRE(pools.give_pinned(second, stream.get()));
    stream.wait();
  }
  // Two lay side by side at most, so there are two in all.
  std::set<void*> all;
  std::vector<void*> taken;
  for (int i = 0; i < 2; ++i) taken.push_back(pools.take_pinned(kBytes - std::size_t(i)));
  for (void* const memory : taken) all.insert(memory);
  CHECK(all.size() == 2);
  for (void* const memory : taken) CHECK(pools.give_pinned(memory, stream.get()));
  stream.wait();
  for (int i = 0; i < 2; ++i) all.insert(pools.take_pinned(kBytes));
  CHECK(all.size() == 2);
  for (void* const memory : all) CHECK(pools.give_pinned(memory, stream.get()));
}

TEST_CASE("pinned memory that was not taken is not given back") {
  if (is_skipped()) return;
  test::CallersStream stream(DeviceKind::cuda);
  DevicePools pools(0);
  int none = 0;
  CHECK_FALSE(pools.give_pinned(&none, stream.get()));
  CHECK(pools.give_pinned(nullptr, stream.get()));
  CHECK(pools.give_memory(nullptr, stream.get()));
  void* const memory = pools.take_pinned(1);
  REQUIRE(memory);
  CHECK(pools.give_pinned(memory, stream.get()));
  CHECK_FALSE(pools.give_pinned(memory, stream.get()));
}

TEST_CASE("device memory is given out again, to several threads at once") {
  if (is_skipped()) return;
  REQUIRE(DevicePools::are_supported(0));
  DevicePools pools(0);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      test::CallersStream stream(DeviceKind::cuda);
      for (int round = 0; round < 200; ++round) {
        const std::size_t bytes = 1000 + std::size_t(round % 7) * 50'000;
        auto* const memory = static_cast<std::byte*>(pools.take_memory(bytes, stream.get()));
        auto* const from = static_cast<std::byte*>(pools.take_pinned(bytes));
        if (!memory || !from) {
          ++wrong;
          return;
        }
        std::vector<std::byte> got(bytes);
        std::memset(from, thread + 1, bytes);
        stream.copy(memory, from, bytes);
        stream.copy(got.data(), memory, bytes);
        wrong += !pools.give_pinned(from, stream.get());
        wrong += !pools.give_memory(memory, stream.get());
        stream.wait();
        for (const std::byte b : got) wrong += int(b) != thread + 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong.load() == 0);
  CHECK(pools.shortages() == 0);
  CHECK(pools.take_memory(std::size_t{1} << 50, nullptr) == nullptr);
  CHECK(pools.shortages() == 1);
}

TEST_CASE("page-locked memory that nobody wants any more goes back to the driver") {
  if (is_skipped()) return;
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  constexpr int kBuffers = 64, kRounds = 2000;
  test::CallersStream stream(DeviceKind::cuda);
  DevicePools pools(0);
  std::vector<void*> taken;
  for (int i = 0; i < kBuffers; ++i) taken.push_back(pools.take_pinned(kBytes));
  for (void* const memory : taken) REQUIRE(pools.give_pinned(memory, stream.get()));
  stream.wait();
  CHECK(pools.pinned_bytes() == kBuffers * kBytes);
  for (int round = 0; round < kRounds; ++round) {
    REQUIRE(pools.give_pinned(pools.take_pinned(kBytes), stream.get()));
    stream.wait();
  }
  CHECK(pools.pinned_bytes() == kBytes);
}

TEST_CASE("device memory that nobody has goes back to the driver when it is asked to") {
  if (is_skipped()) return;
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  test::CallersStream stream(DeviceKind::cuda);
  DevicePools pools(0);
  void* const memory = pools.take_memory(kBytes, stream.get());
  REQUIRE(memory);
  CHECK(pools.give_memory(memory, stream.get()));
  stream.wait();
  const std::size_t kept = test::free_device_memory();
  pools.release();
  CHECK(test::free_device_memory() >= kept + kBytes / 2);
}
