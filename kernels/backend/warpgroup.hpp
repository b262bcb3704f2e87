/// Products of warpgroups, four warps together, by backend, with one interface (PTX ISA,
/// "Asynchronous Warpgroup Level Matrix Instructions"; sm_90a alone has them):
///
///   has_warpgroups(options)      whether the plan's device and this build have them
///   kWarpgroupCode               whether this is code for such a device: elsewhere these
///                                kernels are empty, and never run
///   operand(words, lead, stride) a matrix in shared memory: byte k of row r of a (of column r of
///                                b) at r / 8 * stride + k / 16 * lead + r % 8 * 16 + k % 16, in
///                                bytes, lead and stride being multiples of 16
///   Operand::from(bytes)         the same, so many bytes on: a multiple of 16
///   Operand::chunks_on(chunks)   the same, so many times 16 bytes on
///   begin_products()             before the first product of sums that were set or read
///   multiply(sums, a, b, keep)   sums += a * b: 64 x 32 unsigned bytes times 32 x columns signed
///                                ones; a thread has columns / 2 sums. !keep: sums = a * b
///   multiply<A, B>(sums, a, b, keep)   likewise with bytes of these types, 32 columns or 64;
///                                a is an Operand, or a lane's four words of it
///   commit_products()            they go on by themselves
///   finish_products(sums, ...)   until these are there
///   finish_products_but<n>(sums)   until these are there, if only the last n commits came later
///   set_turned(words, at, pitch, sums_words)   a warp's four matrices of 8 x 8 half words, one
///                                below the other, each turned over its diagonal: row r goes to
///                                the four words at + r * pitch on
///
/// Products see what threads wrote or copied after each thread called hand_over() and a barrier.
///
/// Lane 4 * g + t of warp w has the sums of columns 8 * n + 2t and 8 * n + 2t + 1: those of row
/// 16 * w + g as sums 4 * n and 4 * n + 1, those of row 16 * w + g + 8 as the next two. Its words
/// of a are bytes 4t to 4t + 3 of these two rows, then bytes 4t + 16 to 4t + 19 of both. Its word
/// of a matrix of half words is word t of row g.
#pragma once

#include "kernels/backend/shared_words.hpp"

#ifdef CONVFILT_EMULATE
#include "kernels/backend/emulator/warpgroup.hpp"
#else
#include "kernels/backend/cuda/warpgroup.hpp"
#endif
