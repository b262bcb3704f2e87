/// A hash for files that outlive a run: equal on every machine and in every version.
#pragma once

#include <cstdint>
#include <string_view>

namespace convfilt {

/// 64-bit FNV-1a (Fowler, Noll and Vo). Then the last step of splitmix64 mixes the bits, so that
/// remainders are evenly spread, too.
constexpr std::uint64_t stable_hash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace convfilt
