/// Boxes of 8-bit rows that the device copies to shared memory on its own, by backend, with one
/// interface (PTX ISA, "Tensors": tiled mode, 128B swizzling), on devices with has_warpgroups():
///
///   box_source(rows)         on the host, of rows whose addresses are multiples of 16: a kernel's
///                            `__grid_constant__` argument
///   box_words(words)         the first of these words where boxes may lie: fewer than kBoxSlack
///                            words on
///   copy_box(source, x, y, words, at, arrivals)   by one thread: a box from (x, y) on, `at` boxes
///                            on in the words. What lies behind the rows' last samples is 0. It is
///                            there when await() has passed; expect() counts kBoxWords * 4 bytes
///   copy_box_row(source, x, y, words, at, row, arrivals)   likewise row y as a box's row `row`, of
///                            kBoxBytes
///   set_box_row(words, at, row, word)   by one thread: sets a box's row; hand_over() follows
///   box_operand(words)       the rows of boxes, one behind the other, as columns of a product:
///                            from(box_step(k)) on for its k-th 32 bytes
#pragma once

#include "kernels/backend/box_layout.hpp"
#include "kernels/backend/warpgroup.hpp"

#ifdef CONVFILT_EMULATE
#include "kernels/backend/emulator/boxes.hpp"
#else
#include "kernels/backend/cuda/boxes.hpp"
#endif
