/// A program that keeps its pictures on a device, as tests of Plan::run_resident() play it: device
/// memory and a stream. On the CPU and in the emulator these are host memory and nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/strategy.hpp"

namespace convfilt::test {

/// Queues copies behind each other. They have arrived after wait(). Throws std::runtime_error where
/// CUDA fails.
class CallersStream {
 public:
  explicit CallersStream(DeviceKind device);
  ~CallersStream();

  void* get() const;

  /// Memory of the device, which lives as long as the stream.
  std::byte* allocate(std::size_t bytes);

  /// Copies between host and device, or on either.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes);

  /// Lets what is queued afterwards wait for some milliseconds, so that work which does not keep
  /// to the stream's order comes too early.
  void delay();
  void wait();

 private:
  struct State;
  std::unique_ptr<State> gpu_;  ///< null on the CPU and in the emulator
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

/// Bytes of the first CUDA device that are free.
std::size_t free_device_memory();

}  // namespace convfilt::test
