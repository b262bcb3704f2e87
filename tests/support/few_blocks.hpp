/// An emulated device that runs so many blocks at a time: where blocks are as long as lets all run
/// at once, each then has several steps of rows.
#pragma once

#include "kernels/backend/emulator/shared_words.hpp"

namespace convfilt::test {

class FewBlocks {
 public:
  explicit FewBlocks(int blocks) { emulator::most_blocks = blocks; }
  ~FewBlocks() { emulator::most_blocks = 1 << 30; }
};

}  // namespace convfilt::test
