/// Shared memory of a size that the launch says, by backend, with one interface:
///
///   launch_shared(grid, block, bytes, stream, kernel, args...)   as launch(); blocks have so much
///   shared_words()           all of it, as SharedWords: words of 4 bytes, one or four at a time
///   copy16(in, x, y, words, at)   16 bytes of samples into four words; both addresses are multiples
///                            of 16. They are there as with tensor_core.hpp's copies
///   most_shared(options)     bytes that a block may have, and an SM, on the plan's device
///   blocks_at_once(kernel, block, bytes)   how many blocks the current device runs at a time
#pragma once

#include "tensor_core.hpp"

#ifdef CONVFILT_EMULATE
#include "emulator/shared_words.hpp"
#else
#include "cuda/shared_words.hpp"
#endif
