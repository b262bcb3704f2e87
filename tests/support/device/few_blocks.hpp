/// While one lives, the emulated device runs only this many blocks at a time. Kernels make their
/// blocks as long as lets all run at once, so each block then has several steps of rows.
#pragma once

#include "kernels/backend/emulator/shared_words.hpp"

namespace convfilt::test {

class FewBlocks {
 public:
  explicit FewBlocks(int blocks) { emulator::most_blocks = blocks; }
  ~FewBlocks() { emulator::most_blocks = 1 << 30; }
};

}  // namespace convfilt::test
