/// A CUDA device as a caller uses it who keeps pictures there: a stream, and memory.
#pragma once

#include <cstddef>
#include <memory>

namespace convfilt {

/// Only one thread at a time may use it. Each function makes the device the thread's current one.
class DeviceQueue {
 public:
  /// Throws DeviceError where the device is missing or fails.
  explicit DeviceQueue(int ordinal);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  /// A cudaStream_t, which does not wait for the legacy default stream.
  void* stream() const;

  /// Memory of at least that many bytes, which stays until more is asked for. Growing waits for the
  /// stream, and what lay there is lost. Throws DeviceMemoryError, and DeviceError.
  std::byte* reserve(std::size_t bytes);

  /// Gives the memory back.
  void release();

  /// Waits until the stream has done all that it was given. Throws DeviceError where any of it
  /// failed, or the device did before.
  void synchronize() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace convfilt
