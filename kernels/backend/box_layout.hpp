/// How boxes of rows lie in shared memory (boxes.hpp).
#pragma once

#include "kernels/contract/plane_view.hpp"

namespace convfilt {

inline constexpr int kBoxBytes = 128;  ///< bytes of a box's row
inline constexpr int kBoxRows = 32;
inline constexpr int kBoxWords = kBoxRows * kBoxBytes / 4;
inline constexpr int kBoxSlack = 256;  ///< words; box_words() skips fewer

/// The distance in bytes from a place in a row to the place that lies `step` steps of 32 bytes
/// further on in that row. A row goes on in the next box, which lies behind this one.
CONVFILT_HD constexpr int box_step(int step) {
  constexpr int kStep = 32, kSteps = kBoxBytes / kStep;
  return step / kSteps * (kBoxWords * 4) + step % kSteps * kStep;
}

/// Sets a row of a box in SharedWords to one word repeated.
template <class Words>
CONVFILT_HD void set_box_row(const Words& words, int at, int row, std::uint32_t word) {
  for (int k = 0; k < kBoxBytes / 4; k += 4) {
    words.set4(at * kBoxWords + row * (kBoxBytes / 4) + k,
               Four<std::uint32_t>{{word, word, word, word}});
  }
}

}  // namespace convfilt
