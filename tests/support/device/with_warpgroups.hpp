#pragma once

#include "kernels/backend/emulator/warpgroup.hpp"

namespace convfilt::test {

/// The emulator has warpgroups while one of these lives.
struct WithWarpgroups {
  WithWarpgroups() { emulator::has_warpgroup_products = true; }
  ~WithWarpgroups() { emulator::has_warpgroup_products = false; }
};

}  // namespace convfilt::test
