/// Boxes of 8-bit rows that the device copies to shared memory on its own. Each backend has this
/// interface, for devices with has_warpgroups() (PTX ISA, "Tensors": tiled mode, 128B swizzling):
///
///   box_source(rows)         is called on the host and makes a kernel's `__grid_constant__`
///                            argument. The rows' addresses must be multiples of 16
///   box_words(words)         is the first place in these words where a box may begin. It lies
///                            fewer than kBoxSlack words further on
///   copy_box(source, x, y, words, at, arrivals)   is called by one thread. It copies the box that
///                            begins at (x, y) to box number `at` of the words, with zeros where a
///                            row has ended. The copy is there when await() returns; expect() must
///                            count kBoxWords * 4 bytes for it
///   copy_box_row(source, x, y, words, at, row, arrivals)   copies row y in the same way to row
///                            `row` of a box, which makes kBoxBytes bytes
///   set_box_row(words, at, row, word)   is called by one thread and fills a row of a box with one
///                            word. hand_over() must follow
///   box_operand(words)       is the rows of successive boxes, as the columns of a product's right
///                            factor. from(box_step(k)) moves on to the k-th 32 bytes of each row
#pragma once

#include "kernels/backend/warpgroup.hpp"
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

#ifdef CONVFILT_EMULATE
#include "kernels/backend/emulator/boxes.hpp"
#else
#include "kernels/backend/cuda/boxes.hpp"
#endif
