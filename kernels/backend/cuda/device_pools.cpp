#include "kernels/backend/device_pools.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "kernels/backend/cuda/owners.hpp"

namespace convfilt {
namespace {

/// Makes the device the thread's current one, and afterwards the one that was: the threads are the
/// library's. To make a device current makes a context on it, so nothing is done where it is that
/// already.
class Current {
 public:
  explicit Current(int ordinal) {
    CUDA_IGNORE(cudaGetDevice(&before_));
    if (before_ == ordinal) return;
    CUDA_IGNORE(cudaSetDevice(ordinal));
    has_changed_ = true;
  }
  ~Current() {
    if (has_changed_) CUDA_IGNORE(cudaSetDevice(before_));
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int before_ = 0;
  bool has_changed_ = false;
};

/// The runtime remembers an error until somebody asks for it; the next launch would report it.
bool is_success(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

/// Sizes are powers of two, so that pictures of many sizes share their buffers.
std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t kLeast = 4096;
  return std::bit_ceil(std::max(bytes, kLeast));
}

}  // namespace

struct DevicePools::State {
  /// A buffer that was given back, and the point in its stream's time from which it is free.
  struct Pinned {
    void* memory = nullptr;
    cudaEvent_t free_from = nullptr;
    std::uint64_t number = 0;  ///< of those that were given back
  };
  struct Taken {
    std::size_t bytes = 0;
    cudaEvent_t free_from = nullptr;
  };

  int ordinal = 0;
  cudaMemPool_t pool = nullptr;
  std::mutex mutex;
  std::multimap<std::size_t, Pinned> idle;  ///< by size
  std::unordered_map<void*, Taken> taken;
  std::uint64_t given = 0;

  std::atomic<std::uint64_t> shortages{0};

  ~State() {
    // The thread is the owner's, which may have no context on the device that it had before.
    CUDA_IGNORE(cudaSetDevice(ordinal));
    for (const auto& [bytes, buffer] : idle) free(buffer);
    if (pool) CUDA_IGNORE(cudaMemPoolDestroy(pool));
  }

  static void free(const Pinned& buffer) {
    CUDA_IGNORE(cudaEventSynchronize(buffer.free_from));
    CUDA_IGNORE(cudaEventDestroy(buffer.free_from));
    CUDA_IGNORE(cudaFreeHost(buffer.memory));
  }

  void free_unwanted() {
    constexpr std::uint64_t kMost = 1024;
    std::erase_if(idle, [&](const auto& entry) {
      const bool is_unwanted = entry.second.number + kMost < given;
      if (is_unwanted) free(entry.second);
      return is_unwanted;
    });
  }

  void* find_idle(std::size_t bytes) {
    // The last that came back first, so that some are never wanted if there are too many.
    for (auto [begin, at] = idle.equal_range(bytes); at != begin;) {
      --at;
      if (!is_success(cudaEventQuery(at->second.free_from))) continue;
      void* const memory = at->second.memory;
      taken.emplace(memory, Taken{bytes, at->second.free_from});
      idle.erase(at);
      return memory;
    }
    return nullptr;
  }
};

bool DevicePools::are_supported(int ordinal) noexcept {
  int answer = 0;
  return is_success(cudaDeviceGetAttribute(&answer, cudaDevAttrMemoryPoolsSupported, ordinal)) &&
         answer != 0;
}

DevicePools::DevicePools(int ordinal) : state_(std::make_unique<State>()) {
  state_->ordinal = ordinal;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  CUDA_CHECK(cudaSetDevice(ordinal));
  CUDA_CHECK(cudaMemPoolCreate(&state_->pool, &properties));
  // A pool otherwise gives its memory back to the driver whenever anybody waits for the device.
  std::uint64_t keeps = std::numeric_limits<std::uint64_t>::max();
  CUDA_CHECK(cudaMemPoolSetAttribute(state_->pool, cudaMemPoolAttrReleaseThreshold, &keeps));
}

DevicePools::~DevicePools() = default;

void* DevicePools::take_memory(std::size_t bytes, void* stream) noexcept {
  void* memory = nullptr;
  const bool could = is_success(
      cudaMallocFromPoolAsync(&memory, bytes, state_->pool, static_cast<cudaStream_t>(stream)));
  if (!could) ++state_->shortages;
  return could ? memory : nullptr;
}

bool DevicePools::give_memory(void* memory, void* stream) noexcept {
  return !memory || is_success(cudaFreeAsync(memory, static_cast<cudaStream_t>(stream)));
}

std::uint64_t DevicePools::shortages() const noexcept {
  return state_->shortages;
}

void DevicePools::release() noexcept {
  CUDA_IGNORE(cudaMemPoolTrimTo(state_->pool, 0));
}

void* DevicePools::take_pinned(std::size_t bytes) noexcept try {
  const std::size_t size = rounded(bytes);
  {
    const std::lock_guard lock(state_->mutex);
    if (void* const memory = state_->find_idle(size)) return memory;
  }
  const Current device(state_->ordinal);
  void* memory = nullptr;
  cudaEvent_t event = nullptr;
  if (!is_success(cudaEventCreateWithFlags(&event, cudaEventDisableTiming))) return nullptr;
  if (!is_success(cudaHostAlloc(&memory, size, cudaHostAllocDefault))) {
    CUDA_IGNORE(cudaEventDestroy(event));
    return nullptr;
  }
  const std::lock_guard lock(state_->mutex);
  state_->taken.emplace(memory, State::Taken{size, event});
  return memory;
} catch (...) {
  return nullptr;
}

std::size_t DevicePools::pinned_bytes() const noexcept {
  const std::lock_guard lock(state_->mutex);
  std::size_t bytes = 0;
  for (const auto& [size, buffer] : state_->idle) bytes += size;
  for (const auto& [memory, buffer] : state_->taken) bytes += buffer.bytes;
  return bytes;
}

bool DevicePools::give_pinned(void* memory, void* stream) noexcept try {
  if (!memory) return true;
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->taken.find(memory);
  if (found == state_->taken.end()) return false;
  const auto [bytes, free_from] = found->second;
  if (!is_success(cudaEventRecord(free_from, static_cast<cudaStream_t>(stream)))) return false;
  state_->idle.emplace(bytes, State::Pinned{memory, free_from, ++state_->given});
  state_->taken.erase(found);
  // Freeing stops the device's streams, so it is done for several at once.
  if (state_->given % 256 == 0) state_->free_unwanted();
  return true;
} catch (...) {
  return false;
}

}  // namespace convfilt
