/// JPEG on a GPU, by nvImageCodec. The library is loaded on demand, so one program serves machines
/// with it and without.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "src/picture/codec.hpp"

namespace convfilt {

/// A decoder and an encoder of one device. One thread at a time may use each; several objects may
/// work side by side, but two decoders of a device take longer together than one after the other.
class DeviceJpeg {
 public:
  /// Why there is no nvImageCodec on this machine, with the remedy; empty where there is. The first
  /// call loads it.
  static const std::string& missing();

  /// The library's version, such as "0.9.0"; empty where it is missing.
  static const std::string& version();

  /// The kind of all decoders of this process, "hardware" or "hybrid", which round
  /// differently; empty before the first is made, which finds out.
  static std::string decoders();

  /// All decoders that are made from now on are of that kind, which decoders() said in an earlier
  /// run. Every device has hybrid ones.
  static void keep_to(const std::string& decoders);

  /// The source of the library's working memory: pools that keep it, or the library itself, which
  /// asks the driver for it with each picture.
  enum class Memory { pools, library };

  /// Each codec takes that many host threads. Throws DeviceError, also where the device has no
  /// decoder of the process's kind.
  DeviceJpeg(int device, int threads, Memory memory = Memory::pools);
  ~DeviceJpeg();
  DeviceJpeg(const DeviceJpeg&) = delete;
  DeviceJpeg& operator=(const DeviceJpeg&) = delete;

  /// A file in host memory, and where its pixels go in the device's: grey or RGB, upright.
  struct Input {
    std::span<const unsigned char> file;
    int orientation = 1;            ///< EXIF's 1..8, which is applied
    PictureView<std::byte> pixels;  ///< upright
  };

  /// Decodes all of them, and says of each whether it could. A batch with one that it could not may
  /// fail as a whole; DeviceMemoryError is thrown where it failed for want of memory. What
  /// `stream`, a cudaStream_t of the device, is given afterwards finds the pixels there.
  std::vector<bool> decode(std::span<const Input> inputs, void* stream);

  /// Grey or RGB in the device's memory, and how it becomes a JPEG.
  struct Output {
    PictureView<std::byte> pixels;
    int quality = 0;  ///< 1..100
    Subsampling subsampling;
  };

  /// Whether encode() has this subsampling.
  static bool has(Subsampling subsampling);

  /// Encodes all of them at once, after what `stream` was given before. A file is empty where it
  /// could not. Throws DeviceMemoryError as decode() does.
  std::vector<std::vector<unsigned char>> encode(std::span<const Output> outputs, void* stream);

  /// Gives memory of the device back that was kept for the next batch.
  void release();

  class State;  ///< the library's decoder and encoder

 private:
  std::unique_ptr<State> state_;
};

}  // namespace convfilt
