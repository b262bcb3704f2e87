#pragma once

#include "kernels/backend/emulator/warpgroup.hpp"

namespace convfilt::test {

/// While it lives the emulator has warpgroups.
struct WithWarpgroups {
  WithWarpgroups() { emulator::has_warpgroup_products = true; }
  ~WithWarpgroups() { emulator::has_warpgroup_products = false; }
};

}  // namespace convfilt::test
