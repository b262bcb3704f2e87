/// What the tests of tensor's kernels for warpgroups share.
#pragma once

#include "kernels/registry.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/device/with_warpgroups.hpp"
#include "tests/support/environment.hpp"

namespace convfilt::test {

/// Checks that tensor gives the CPU's bytes on every device, for rows with padding and without.
void check_bytes(const Problem& p);

/// Checks the same with `limit` bytes of memory: the picture is filtered in bands, and in pieces of
/// rows where `pieces` says that a whole row does not fit.
void check_pieces(const Problem& p, std::size_t limit, bool pieces);

/// Counts tensor's reads of global memory in the emulator.
std::uint64_t reads(const Problem& p, bool padded = true);

}  // namespace convfilt::test
