/// What tests of tensor's kernels for warpgroups share.
#pragma once

#include "kernels/registry.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/with_warpgroups.hpp"

namespace convfilt::test {

/// By tensor on every device, with rows that have padding and rows that have none: the CPU's bytes.
void check_bytes(const Problem& p);

/// In bands, and in pieces where `limit` bytes hold no whole row.
void check_pieces(const Problem& p, std::size_t limit, bool pieces);

/// What tensor reads of global memory for a picture of that shape, in the emulator.
std::uint64_t reads(const Problem& p, bool padded = true);

}  // namespace convfilt::test
