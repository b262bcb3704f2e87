/// Products of warpgroups, four warps together, by backend, with one interface (PTX ISA,
/// "Asynchronous Warpgroup Level Matrix Instructions"; sm_90a alone has them):
///
///   has_warpgroups(options)      whether the plan's device and this build have them
///   operand(words, lead, stride) a matrix in shared memory: byte k of row r of a (of column r of
///                                b) at r / 8 * stride + k / 16 * lead + r % 8 * 16 + k % 16, in
///                                bytes, lead and stride being multiples of 16
///   Operand::from(bytes)         the same, so many bytes on: a multiple of 16
///   Operand::chunks_on(chunks)   the same, so many times 16 bytes on
///   begin_products()             before the first product of sums that were set or read
///   multiply(sums, a, b, keep)   sums += a * b: 64 x 32 unsigned bytes times 32 x columns signed
///                                ones; a thread has columns / 2 sums. !keep: sums = a * b
///   multiply_signed(sums, a, b, keep)   likewise, of signed bytes of a and unsigned ones of b; a is
///                                an operand, or in registers as mma()'s in tensor_core.hpp
///   commit_products()            they go on by themselves
///   finish_products<n>(sums)     until these are there, if only the last n commits came later
///
/// What threads wrote or copied is there for products behind hand_over(), by each, and a barrier.
///
/// Lane 4 * g + t of warp w has of the columns 8 * n + 2t and 8 * n + 2t + 1 the sums of row
/// 16 * w + g, then those of row 16 * w + g + 8, as sums 4 * n to 4 * n + 3.
#pragma once

#include "shared_words.hpp"

#ifdef CONVFILT_EMULATE
#include "emulator/warpgroup.hpp"
#else
#include "cuda/warpgroup.hpp"
#endif
