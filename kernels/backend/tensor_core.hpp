/// Tensor cores, by backend, with one interface, on devices from kTensorCoreMajor on:
///
///   mma<B, A>(sums, a, b)    sums += a * b, all 32 lanes of a warp together: 16 x K bytes times
///                            K x 8, K = 16 with one word of b, 32 with two; A and B say whether
///                            bytes are signed, A unless said otherwise is not
///   mma<B, A>(sums, a, b, before)   sums = before + a * b
///   kept(value, lane)        the value, which all lanes hold, in a register of its own
///   read16(tile, row, word), write16(...)   16 bytes of a shared tile of words at once;
///   byte_at(tile, row, byte) one of them
///   copy16(in, x, y, tile, row, word)   16 samples of 8 bits into words of a shared tile; there
///   copy16(in, at, tile, row, word, count)   likewise, from in.data + at on; or `count` and zeros
///   commit_copies()          when these, finish_copies<n>() and a barrier have passed, but for
///   finish_copies<n>()       those between the last n commits
///
/// Lane 4 * g + t holds (PTX ISA, "Matrix Fragments for mma.m16n8k16", integers): of a the bytes
/// 4t..4t+3 of rows g and g + 8, of b the same bytes of column g, and of the sums the columns 2t
/// and 2t + 1 of rows g and g + 8. The second 16 bytes follow in the second half of a and b.
#pragma once

#include "kernels/backend/devices.hpp"

#ifdef CONVFILT_EMULATE
#include "kernels/backend/emulator/tensor_core.hpp"
#else
#include "kernels/backend/cuda/tensor_core.hpp"
#endif
