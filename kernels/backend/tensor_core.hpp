/// Tensor cores, on devices from kTensorCoreMajor on. Each backend has this interface:
///
///   mma<B, A>(sums, a, b)    adds a * b to the sums. All 32 lanes of a warp call it together. a
///                            has 16 x K bytes and b has K x 8, where K is 16 if b has one word
///                            and 32 if it has two. A and B are the types of their bytes; A is
///                            std::uint8_t by default
///   mma<B, A>(sums, a, b, before)   sets the sums to before + a * b
///   kept(value, lane)        is a value that all lanes hold, in a register of its own
///   read16(tile, row, word), write16(...)   move 16 bytes of a shared tile of words at once
///   byte_at(tile, row, byte) is one byte of such a tile
///   copy16(in, x, y, tile, row, word)   starts to copy 16 samples of 8 bits to four words of a
///                            shared tile
///   copy16(in, at, tile, row, word, count)   does the same from in.data + at on, for the first
///                            `count` samples, and writes zeros behind them
///   commit_copies()          ends a group of copies
///   finish_copies<n>()       waits for this thread's copies, except those of its last n groups. A
///                            barrier behind it makes all threads' copies visible
///
/// Lane 4 * g + t holds bytes 4t..4t+3 of rows g and g + 8 of a, the same bytes of column g of b,
/// and columns 2t and 2t + 1 of rows g and g + 8 of the sums. Where K is 32, the second 16 bytes
/// follow in the second half of a and b (PTX ISA, "Matrix Fragments for mma.m16n8k16", integers).
#pragma once

#include "kernels/backend/devices.hpp"

#ifdef CONVFILT_EMULATE
#include "kernels/backend/emulator/tensor_core.hpp"
#else
#include "kernels/backend/cuda/tensor_core.hpp"
#endif
