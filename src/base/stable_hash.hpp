/// A hash that is the same on every machine and in every version, for files that outlive a run.
#pragma once

#include <cstdint>
#include <string_view>

namespace convfilt {

/// FNV-1a of 64 bits (Fowler, Noll and Vo), whose bits splitmix64's last step then spreads, so that
/// remainders are even, too.
constexpr std::uint64_t stable_hash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace convfilt
