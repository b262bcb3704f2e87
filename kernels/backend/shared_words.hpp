/// Shared memory of a size that the launch says, by backend, with one interface:
///
///   launch_shared(grid, block, bytes, stream, kernel, args...)   as launch(); blocks have so much
///   shared_words()           all of it, as SharedWords: words of 4 bytes, 1, 2 or 4 at once
///   copy16(in, x, y, words, at)   16 bytes of samples into four words; both addresses are
///                            multiples of 16. They are there as with tensor_core.hpp's copies
///   copy16(in, from, words, at, bytes)   likewise, from in.data + from on, where 0 to 16 of the
///                            bytes are samples, and the others lie in the rows' padding
///   row_copies(options)      whether the plan's device copies rows on its own, of these:
///   start_arrivals(words, at, n)   by one thread, and a barrier behind it: n counters of two
///                            words each
///   expect(words, at, bytes) by one thread: so many bytes will arrive; once a round
///   copy_row(in, x, y, samples, words, at, arrivals)   by one thread: samples of a row into words;
///                            addresses and bytes are multiples of 16
///   await(words, at, round)  until what the counter's round (from 0 on) expects is there
///   hand_over()              after words were written otherwise that copy_row() shall write
///                            next, or that products of warpgroups shall read
///   most_shared(options)     bytes that a block may have, and an SM, on the plan's device
///   multiprocessors()        of the current device; the emulator's tests make it few
///   blocks_at_once(kernel, block, bytes)   how many blocks the current device runs at a time
#pragma once

#include "kernels/backend/tensor_core.hpp"

#ifdef CONVFILT_EMULATE
#include "kernels/backend/emulator/edge_copies.hpp"
#include "kernels/backend/emulator/shared_words.hpp"
#else
#include "kernels/backend/cuda/edge_copies.hpp"
#include "kernels/backend/cuda/row_copies.hpp"
#endif
