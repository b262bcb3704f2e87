/// Memory for libraries that work on a CUDA device and take an allocator. cudaMalloc, cudaFree and
/// their like stop every stream of the device, so what is given back stays here and is given out
/// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace convfilt {

/// Several threads may use it at once. `stream` is a cudaStream_t of the device each time. The
/// memory must be back before the pools go. Nothing throws but the constructor, since libraries in
/// C call the rest.
class DevicePools {
 public:
  /// Whether the device has pools in stream order.
  static bool are_supported(int ordinal) noexcept;

  /// Throws DeviceError.
  explicit DevicePools(int ordinal);
  ~DevicePools();
  DevicePools(const DevicePools&) = delete;
  DevicePools& operator=(const DevicePools&) = delete;

  /// Memory of the device, which may be used by what the stream is given afterwards. Null where
  /// there is none left.
  void* take_memory(std::size_t bytes, void* stream) noexcept;

  /// Takes it back, once the stream has done what it was given before.
  bool give_memory(void* memory, void* stream) noexcept;

  /// How often take_memory() had none.
  std::uint64_t shortages() const noexcept;

  /// Gives memory of the device that nobody has taken back to the driver. What was given back in a
  /// stream whose work has not ended stays.
  void release() noexcept;

  /// Page-locked memory of the host, which may be used at once. Null where there is none left.
  void* take_pinned(std::size_t bytes) noexcept;

  /// Takes it back; nobody else has it before the stream has done what it was given before. What
  /// nobody has wanted while 1,024 others came back goes to the driver.
  bool give_pinned(void* memory, void* stream) noexcept;

  /// All page-locked memory, taken or not.
  std::size_t pinned_bytes() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace convfilt
