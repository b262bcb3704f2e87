/// Random numbers and hashes that are equal with every compiler, on every machine and in every
/// version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/suggest.hpp"

namespace convfilt {

/// The last step of splitmix64 (Steele, Lea and Flood 2014): it mixes the bits of a number.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// splitmix64.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15); }

  /// 0..n-1, for n up to 2^32.
  int below(std::uint32_t n) { return int(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

/// A hash for files that outlive a run: 64-bit FNV-1a (Fowler, Noll and Vo), mixed so that
/// remainders are evenly spread, too.
constexpr std::uint64_t stable_hash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return mixed(hash);
}

/// The hash in 16 hexadecimal digits.
inline std::string digits_of(std::uint64_t hash) {
  return with_format("%016llx", static_cast<unsigned long long>(hash));
}

}  // namespace convfilt
