/// A walk over the Huffman codes of baseline JPEGs on a device. It finds damage without making a
/// pixel.
///
/// A thread has a part of the data and does not know at first what its first bit belongs to, so it
/// begins with a guess. Codes settle: after some symbols a walk from any bit goes in step with the
/// true one. So in each round a thread begins anew where the part before it has ended, unless it
/// began there in the round before. When no beginning changes, all are true, since the first is.
/// Source: Klein and Wiseman, Parallel Huffman decoding with applications to JPEG files (2003);
/// Weissenberger and Schmidt, Accelerating JPEG decompression on GPUs (2021).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/contract/plane_view.hpp"

namespace convfilt::huffman {

inline constexpr int kCoefficients = 64;  ///< of a block

/// The next part of a stream: one symbol or several, with their values.
struct alignas(4) Step {
  static constexpr std::uint8_t kAll = kCoefficients, kBeyond = 255;
  std::uint8_t bits = 0;
  std::uint8_t advances = 0;       ///< coefficients; all of a block or more where it ends
  std::uint8_t reaches = kBeyond;  ///< how many coefficients must be left; no block has so many
                                   ///< where there is no such code
};

/// A table of codes of at most 16 bits.
struct Codes {
  static constexpr int kShort = 11;  ///< bits that are looked up at once

  struct Long {
    std::uint32_t first;  ///< of 16 bits, the code on top
    int length;
    Step step;
  };

  Step single[1 << kShort]{};  ///< by the next bits; none where a code is longer
  Long longs[256]{};           ///< in the order of their codes
  int long_count = 0;

  /// One symbol, by the next 16 bits.
  CONVFILT_HD Step next(std::uint32_t bits) const {
    const Step step = single[bits >> (16 - kShort)];
    if (step.bits != 0) return step;
    int below = 0, after = long_count;
    while (below < after) {
      const int middle = (below + after) / 2;
      if (longs[middle].first <= bits)
        below = middle + 1;
      else
        after = middle;
    }
    if (after == 0) return Step();
    const Long& code = longs[after - 1];
    return (bits ^ code.first) >> (16 - code.length) == 0 ? code.step : Step();
  }
};

/// The codes of a picture: one scan of all components.
struct Scan {
  /// Codes that begin and end by themselves: all, or those up to a restart marker.
  struct Segment {
    std::uint32_t begin = 0, end = 0;  ///< bytes of the data; it begins at a multiple of 4
    std::uint32_t blocks = 0;          ///< that it must hold
    std::uint32_t first_part = 0;
  };
  struct Tables {
    std::uint8_t dc = 0, ac = 0;  ///< numbers of `codes`
  };
  static constexpr std::size_t kMostTables = 8, kMostBlocks = 10, kMostBytes = 1 << 28;

  std::vector<Codes> codes;
  std::vector<Tables> blocks;  ///< of a unit of the scan, in their order
  std::vector<Segment> segments;
  std::vector<unsigned char> data;  ///< without the zeros behind 0xFF

  /// Adds a segment: bytes of a file, in which each 0xFF has a zero behind it.
  void add(std::span<const unsigned char> stuffed, std::size_t blocks_in_it);
};

/// Walks over scans on one device. One thread at a time uses it.
class ScanWalker {
 public:
  virtual ~ScanWalker() = default;

  /// Whether each scan holds its blocks, and ends with them but for the bits that fill the last
  /// byte. It says no where its walk has not settled, too: then a walk from the beginning knows.
  /// Throws DeviceError.
  virtual std::vector<bool> hold(std::span<const Scan* const> scans) = 0;

  /// Gives the device's memory back, but not 16 MiB of pinned host memory.
  virtual void release() = 0;
};

/// A walker on a CUDA device. Throws DeviceError where there is none.
std::unique_ptr<ScanWalker> make_walker(int ordinal);

}  // namespace convfilt::huffman
