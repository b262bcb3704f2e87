/// Bytes within 32-bit words: how they are picked, and how 8-bit samples are packed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/plane_view.hpp"

namespace convfilt {

/// Picks four of the eight bytes of two words. 0..3 are the bytes of a, and 4..7 those of b. The
/// selector's lowest hexadecimal digit says which becomes the lowest byte.
CONVFILT_HD inline std::uint32_t pick_bytes(std::uint32_t a, std::uint32_t b, unsigned selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, selector);
#else
  const std::uint64_t both = std::uint64_t(b) << 32 | a;
  std::uint32_t picked = 0;
  for (int byte = 0; byte < 4; ++byte) {
    picked |= std::uint32_t(both >> (8 * (selector >> (4 * byte) & 7)) & 255) << (8 * byte);
  }
  return picked;
#endif
}

/// Two samples, saturated to 0..255. The first is in the low byte.
CONVFILT_HD inline std::uint16_t saturated_pair(std::int32_t first, std::int32_t second) {
#ifdef __CUDA_ARCH__
  std::uint32_t pair;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(pair) : "r"(second), "r"(first));
  return std::uint16_t(pair);
#else
  return std::uint16_t(std::clamp(first, 0, 255) | std::clamp(second, 0, 255) << 8);
#endif
}

/// Four samples, saturated in the same way.
CONVFILT_HD inline std::uint32_t saturated_four(std::int32_t a, std::int32_t b, std::int32_t c,
                                                std::int32_t d) {
#ifdef __CUDA_ARCH__
  std::uint32_t upper, four;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(d), "r"(c));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(four) : "r"(b), "r"(a), "r"(upper));
  return four;
#else
  return saturated_pair(a, b) | std::uint32_t(saturated_pair(c, d)) << 16;
#endif
}

}  // namespace convfilt
