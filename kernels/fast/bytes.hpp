/// Bytes of words.
#pragma once

#include <cstdint>

#include "plane_view.hpp"

namespace convfilt {

/// Four of the eight bytes of two words, 0..3 of a and 4..7 of b; the selector's lowest hexadecimal
/// digit says which becomes the lowest byte.
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

}  // namespace convfilt
