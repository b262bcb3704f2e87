/// The owners of cuda/owners.hpp and cuda/texture.hpp, over host memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "kernels/backend/emulator/emulator.hpp"

namespace convfilt::emulator {

/// The emulator plays a device, to and from which pictures are copied, and the copies are timed.
inline constexpr bool kHasOwnMemory = true;

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes)
      : data_(static_cast<std::byte*>(::operator new(bytes, kAlignment))), bytes_(bytes) {}

  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  /// As cudaMalloc() aligns memory, so that sectors and bursts begin where they do there.
  static constexpr std::align_val_t kAlignment{256};
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, kAlignment); }
  };

  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

/// It holds the number of CPU threads, and what they count and write down.
class Stream {
 public:
  explicit Stream(const PlanOptions& options)
      : threads_(options.threads), watch_(options.watch), recording_(options.recording) {}

  void make_current() const {}
  void synchronize() const {}
  /// A caller has no stream, and all work is done at once.
  void enter(void*) {}
  void leave() {}
  void abandon() {}
  void go_home() {}
  int threads() const { return threads_; }
  Watch watch() const { return watch_; }
  Counts& total() const { return total_; }
  Recording* recording() const { return recording_; }

 private:
  int threads_;
  Watch watch_;
  Recording* recording_;
  mutable Counts total_;
};

class Event {
 public:
  void record(const Stream&) { time_ = std::chrono::steady_clock::now(); }
  double ms_since(const Event& earlier) const {
    return std::chrono::duration<double, std::milli>(time_ - earlier.time_).count();
  }

 private:
  std::chrono::steady_clock::time_point time_;
};

/// Its work is done at once, and the main stream's after it.
class SideStream {
 public:
  explicit SideStream(const PlanOptions&) {}
  const Stream& begin(const Stream& main) { return main; }
  void end(const Stream&) {}
};

inline void copy_rows(std::byte* to, std::size_t to_pitch, const std::byte* from,
                      std::size_t from_pitch, std::size_t row_bytes, int rows, const Stream&) {
  for (int y = 0; y < rows; ++y) std::memcpy(to + y * to_pitch, from + y * from_pitch, row_bytes);
}

inline void upload_rows(std::byte* to, std::size_t to_pitch, const std::byte* from,
                        std::size_t from_pitch, std::size_t row_bytes, int rows,
                        const Stream& stream) {
  copy_rows(to, to_pitch, from, from_pitch, row_bytes, rows, stream);
}

inline void download_rows(std::byte* to, std::size_t to_pitch, const std::byte* from,
                          std::size_t from_pitch, std::size_t row_bytes, int rows,
                          const Stream& stream) {
  copy_rows(to, to_pitch, from, from_pitch, row_bytes, rows, stream);
}

class Uploads {
 public:
  void begin(std::byte* to) { to_ = to; }
  void add(const void* from, std::size_t bytes, const Stream&) {
    if (bytes > 0) std::memcpy(to_, from, bytes);
    to_ += bytes;
  }
  void end(const Stream&) {}

 private:
  std::byte* to_ = nullptr;
};

inline void clear(std::byte* to, std::size_t bytes, const Stream&) {
  std::memset(to, 0, bytes);
}

/// The emulator sets no limit on host memory; PlanOptions::memory_limit does.
inline std::size_t free_memory() {
  return SIZE_MAX / 2;
}

inline void reset_counts(const Stream& stream) {
  stream.total() = {};
}

inline Counts counts_of(const Stream& stream) {
  return stream.total();
}

/// A plan's texture. All work is done at once, so one is enough.
class Textures {
 public:
  cudaTextureObject_t get(std::byte* data, int width, int height, std::ptrdiff_t pitch,
                          ChannelFormat, cudaTextureAddressMode mode, TextureMemory, const Stream&,
                          bool) {
    const bool normalised = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    object_ = {data, width, height, pitch, mode, normalised};
    return &object_;
  }
  void clear() {}

 private:
  TextureObject object_{};
};

}  // namespace convfilt::emulator
