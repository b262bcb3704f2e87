/// Which thread of a block comes next in the emulator.
#pragma once

#include <cstdint>

#include "kernels/backend/emulator/cuda_words.hpp"

namespace convfilt::emulator {

/// The threads of a warp that have not begun, by rising x, then y, then z.
struct WarpThreads {
  dim3 block;
  std::uint32_t next, end;
  Index3 index;  ///< of the next

  bool none() const { return next == end; }

  Index3 take() {
    const Index3 taken = index;
    ++next;
    if (++index.x == int(block.x)) {
      index.x = 0;
      if (++index.y == int(block.y)) {
        index.y = 0;
        ++index.z;
      }
    }
    return taken;
  }
};

}  // namespace convfilt::emulator
