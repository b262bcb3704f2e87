/// For tests of tensor's kernels for warpgroups.
#pragma once

#include "compare.hpp"
#include "emulator/warpgroup.hpp"
#include "environment.hpp"
#include "registry.hpp"

namespace convfilt::test {

/// While it lives the emulator has warpgroups.
struct WithWarpgroups {
  WithWarpgroups() { emulator::has_warpgroup_products = true; }
  ~WithWarpgroups() { emulator::has_warpgroup_products = false; }
};

/// By tensor on every device, with rows that have padding and rows that have none: the CPU's bytes.
void check_bytes(const Problem& p);

/// In bands, and in pieces where `limit` bytes hold no whole row.
void check_pieces(const Problem& p, std::size_t limit, bool pieces);

/// What tensor reads of global memory for a picture of that shape, in the emulator.
std::uint64_t reads(const Problem& p, bool padded = true);

}  // namespace convfilt::test
