/// Random numbers that are equal with every compiler and library.
#pragma once

#include <cstdint>

namespace convfilt {

/// splitmix64 (Steele, Lea and Flood 2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// 0..n-1, for n up to 2^32.
  int below(std::uint32_t n) { return int(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace convfilt
