/// Move-only owners: construct = acquire, destroy = release.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
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

/// A stream of the plan's device. The constructor makes that device current.
class Stream {
 public:
  explicit Stream(const PlanOptions& options) : device_(options.device) {
    make_current();
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { CUDA_IGNORE(cudaStreamDestroy(stream_)); }

  void make_current() const { CUDA_CHECK(cudaSetDevice(device_)); }
  void synchronize() const { CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  cudaStream_t get() const { return stream_; }

 private:
  int device_;
  cudaStream_t stream_ = nullptr;
};

/// A point in a stream's time.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) {
    CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags));
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { CUDA_IGNORE(cudaEventDestroy(event_)); }

  void record(const Stream& stream) { CUDA_CHECK(cudaEventRecord(event_, stream.get())); }
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

/// The order of a plan's work among that of a caller's stream, a cudaStream_t of the same device.
class CallersOrder {
 public:
  /// Work that `own` is given afterwards waits for work that the caller's stream was given before.
  void begin(void* caller, const Stream& own) {
    CUDA_CHECK(cudaEventRecord(began_.get(), static_cast<cudaStream_t>(caller)));
    CUDA_CHECK(cudaStreamWaitEvent(own.get(), began_.get(), 0));
  }
  /// Work that the caller's stream is given afterwards waits for work that `own` was given before.
  void end(void* caller, const Stream& own) {
    ended_.record(own);
    CUDA_CHECK(cudaStreamWaitEvent(static_cast<cudaStream_t>(caller), ended_.get(), 0));
  }

 private:
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
