/// Shared memory whose size each launch chooses. Each backend has this interface:
///
///   launch_shared(grid, block, bytes, stream, kernel, args...)   launches as launch() does, with
///                            that many bytes of shared memory for each block
///   shared_words()           is all of that memory, as SharedWords: words of 4 bytes, which are
///                            read and written 1, 2 or 4 at a time
///   copy16(in, x, y, words, at)   starts to copy 16 bytes of samples to four words. Both addresses
///                            must be multiples of 16. finish_copies() of tensor_core.hpp waits
///                            for it
///   copy16(in, from, words, at, bytes)   does the same from in.data + from on, where the first
///                            `bytes` (0 to 16) of the 16 bytes are samples and the others lie in
///                            the row's padding. With 0 nothing is copied
///   row_copies(options)      says whether the plan's device copies rows on its own, which the next
///                            four functions serve:
///   start_arrivals(words, at, n)   is called by one thread and sets n counters of two words each.
///                            A barrier must follow
///   expect(words, at, bytes) is called by one thread, once a round, and says how many bytes will
///                            arrive
///   copy_row(in, x, y, samples, words, at, arrivals)   is called by one thread and starts to copy
///                            samples of a row. Addresses and bytes must be multiples of 16
///   await(words, at, round)  waits until all has arrived that expect() announced in that round,
///                            counted from 0
///   hand_over()              must follow other writes to words that copy_row() writes next, or
///                            that products of warpgroups read
///   most_shared(options)     is the bytes that a block and an SM of the plan's device may have
///   multiprocessors()        counts those of the current device. Tests of the emulator make it
///                            small
///   blocks_at_once(kernel, block, bytes)   is how many blocks the current device runs at a time
#pragma once

#include "kernels/backend/tensor_core.hpp"

#ifdef CONVFILT_EMULATE
#include "kernels/backend/emulator/shared_words.hpp"
#else
#include "kernels/backend/cuda/shared_words.hpp"
#endif
