/// Move-only owners: construct = acquire, destroy = release.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/backend/cuda/check.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::cuda {

/// Pictures are copied to and from the device, which takes time of its own.
inline constexpr bool kHasOwnMemory = true;

/// Bytes of device memory.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    if (bytes > 0) CUDA_CHECK(cudaMalloc(&memory, bytes));
    data_ = static_cast<std::byte*>(memory);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer() { CUDA_IGNORE(cudaFree(data_)); }

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void swap(DeviceBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Stream;

/// A point in a stream's time.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) {
    CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags));
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { CUDA_IGNORE(cudaEventDestroy(event_)); }

  void record(const Stream& stream);
  cudaEvent_t get() const { return event_; }

  /// Milliseconds since an earlier event. The call waits until this one has come.
  double ms_since(const Event& earlier) const {
    CUDA_CHECK(cudaEventSynchronize(event_));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, earlier.event_, event_));
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream of the plan's device, or for some time a caller's stream of that device. Work waits for
/// the plan's earlier work, whichever stream that is in. The constructor makes the device current.
class Stream {
 public:
  explicit Stream(const PlanOptions& options) : device_(options.device) {
    make_current();
    CUDA_CHECK(cudaStreamCreateWithFlags(&own_, cudaStreamNonBlocking));
    current_ = own_;
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { CUDA_IGNORE(cudaStreamDestroy(own_)); }

  void make_current() const { CUDA_CHECK(cudaSetDevice(device_)); }
  void synchronize() const { CUDA_CHECK(cudaStreamSynchronize(current_)); }
  cudaStream_t get() const { return current_; }

  /// Sends work to a caller's stream, a cudaStream_t, until leave() or abandon().
  void enter(void* caller) {
    make_current();
    if (!ended_) ended_.emplace(cudaEventDisableTiming);
    if (is_home_) ended_->record(*this);
    wait_in(static_cast<cudaStream_t>(caller));
    current_ = static_cast<cudaStream_t>(caller);
    is_home_ = false;
  }
  /// The caller may destroy its stream afterwards.
  void leave() {
    ended_->record(*this);
    current_ = own_;
  }
  /// Leaves after a failure, when the stream has done what it was given, so that the caller may
  /// give back its memory.
  void abandon() {
    CUDA_IGNORE(cudaStreamSynchronize(current_));
    cudaGetLastError();  // A later launch would report the failure once more.
    current_ = own_;
  }
  /// Sends work to the plan's own stream again.
  void go_home() {
    make_current();
    if (!is_home_) wait_in(own_);
    is_home_ = true;
  }

 private:
  void wait_in(cudaStream_t stream) const {
    CUDA_CHECK(cudaStreamWaitEvent(stream, ended_->get(), 0));
  }

  int device_;
  cudaStream_t own_ = nullptr, current_ = nullptr;
  std::optional<Event> ended_;  ///< behind the latest work, each time that the stream changes
  bool is_home_ = true;         ///< whether its own stream is behind all other work
};

inline void Event::record(const Stream& stream) {
  CUDA_CHECK(cudaEventRecord(event_, stream.get()));
}

/// Work beside a stream's. It begins when the stream has done all that it was given before begin().
class SideStream {
 public:
  explicit SideStream(const PlanOptions& options) : stream_(options) {}

  const Stream& begin(const Stream& main) {
    began_.record(main);
    CUDA_CHECK(cudaStreamWaitEvent(stream_.get(), began_.get(), 0));
    return stream_;
  }
  /// Work that the stream is given afterwards waits for that work.
  void end(const Stream& main) {
    ended_.record(stream_);
    CUDA_CHECK(cudaStreamWaitEvent(main.get(), ended_.get(), 0));
  }

 private:
  Stream stream_;
  Event began_{cudaEventDisableTiming}, ended_{cudaEventDisableTiming};
};

/// Copies rows from place to place on the device, in stream order.
inline void copy_rows(std::byte* to, std::size_t to_pitch, const std::byte* from,
                      std::size_t from_pitch, std::size_t row_bytes, int rows,
                      const Stream& stream) {
  CUDA_CHECK(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, std::size_t(rows),
                               cudaMemcpyDeviceToDevice, stream.get()));
}

/// Copies rows between host and device, in stream order.
inline void upload_rows(std::byte* to, std::size_t to_pitch, const std::byte* from,
                        std::size_t from_pitch, std::size_t row_bytes, int rows,
                        const Stream& stream) {
  CUDA_CHECK(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, std::size_t(rows),
                               cudaMemcpyHostToDevice, stream.get()));
}

inline void download_rows(std::byte* to, std::size_t to_pitch, const std::byte* from,
                          std::size_t from_pitch, std::size_t row_bytes, int rows,
                          const Stream& stream) {
  CUDA_CHECK(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, std::size_t(rows),
                               cudaMemcpyDeviceToHost, stream.get()));
}

/// Copies bytes of host memory to the device, one behind the other, through pinned memory. A copy
/// from pageable memory takes longer: a walk over 0.8 MB of codes 0.6 ms, and 0.2 ms this way
/// (H200).
class Uploads {
 public:
  /// Where the next bytes go.
  void begin(std::byte* to) {
    to_ = to;
    filled_ = 0;
  }
  void add(const void* from, std::size_t bytes, const Stream& stream) {
    const auto* at = static_cast<const std::byte*>(from);
    while (bytes > 0) {
      Half& half = halves_[which_];
      if (filled_ == 0) half.wait();
      const std::size_t count = std::min(bytes, kBytes - filled_);
      std::memcpy(half.memory.get() + filled_, at, count);
      filled_ += count;
      at += count;
      bytes -= count;
      if (filled_ == kBytes) end(stream);
    }
  }
  /// The copies are queued when this returns.
  void end(const Stream& stream) {
    if (filled_ == 0) return;
    Half& half = halves_[which_];
    CUDA_CHECK(
        cudaMemcpyAsync(to_, half.memory.get(), filled_, cudaMemcpyHostToDevice, stream.get()));
    half.is_copied.record(stream);
    to_ += filled_;
    filled_ = 0;
    which_ = 1 - which_;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{8} << 20;
  struct Free {
    void operator()(std::byte* memory) const { CUDA_IGNORE(cudaFreeHost(memory)); }
  };
  /// One is filled while the other is copied.
  struct Half {
    std::unique_ptr<std::byte, Free> memory;  ///< from the first bytes on
    Event is_copied{cudaEventDisableTiming};

    void wait() {
      if (memory) {
        CUDA_CHECK(cudaEventSynchronize(is_copied.get()));
        return;
      }
      void* pinned = nullptr;
      CUDA_CHECK(cudaMallocHost(&pinned, kBytes));
      memory.reset(static_cast<std::byte*>(pinned));
    }
  };

  Half halves_[2];
  std::size_t filled_ = 0;
  int which_ = 0;
  std::byte* to_ = nullptr;
};

/// Sets bytes on the device to zero, in stream order.
inline void clear(std::byte* to, std::size_t bytes, const Stream& stream) {
  CUDA_CHECK(cudaMemsetAsync(to, 0, bytes, stream.get()));
}

/// Device bytes that a plan may take now, which are fewer than CUDA reports as free. The driver and
/// other programs take some as well, the last 3 MiB cannot be had, and every buffer takes whole
/// pages of 2 MiB.
inline std::size_t free_memory() {
  constexpr std::size_t kPages = std::size_t(64) << 20;
  std::size_t available = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&available, &total));
  return available - std::max(available / 10, std::min(kPages, available / 2));
}

/// CUDA counts nothing.
inline void reset_counts(const Stream&) {}
inline Counts counts_of(const Stream&) {
  return {};
}

}  // namespace convfilt::cuda
