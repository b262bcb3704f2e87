/// Products of warpgroups, which are four warps together. Only sm_90a has them (PTX ISA,
/// "Asynchronous Warpgroup Level Matrix Instructions"). Each backend has this interface:
///
///   has_warpgroups(options)      says whether the plan's device and this build have them
///   kWarpgroupCode               says whether this is code for such a device. Elsewhere these
///                                kernels are empty and never run
///   operand(words, lead, stride) is a matrix in shared memory. Byte k of row r of a, or of column
///                                r of b, lies at byte
///                                r / 8 * stride + k / 16 * lead + r % 8 * 16 + k % 16.
///                                lead and stride are multiples of 16
///   Operand::from(bytes)         is the operand that begins that many bytes further on, a multiple
///                                of 16
///   Operand::chunks_on(chunks)   is the operand that begins that many times 16 bytes further on
///   begin_products()             must come before the first product of sums that were set or read
///   multiply(sums, a, b, keep)   adds a * b to the sums, or sets them to a * b without `keep`. a
///                                has 64 x 32 unsigned bytes, and b has 32 x columns signed ones.
///                                A thread has columns / 2 sums
///   multiply<A, B>(sums, a, b, keep)   does the same with bytes of these types and 32 or 64
///                                columns. a is an Operand, or a lane's four words of it
///   commit_products()            lets the products go on by themselves
///   finish_products(sums, ...)   waits until these sums are complete
///   finish_products_but<n>(sums)   does the same where only the last n commits came later
///   set_turned(words, at, pitch, sums_words)   stores a warp's four matrices of 8 x 8 half words,
///                                one below the other, each transposed. Row r goes to the four
///                                words from at + r * pitch on
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
