/// Checks with each instruction set that this machine has.
#pragma once

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <string>

#include "kernels/cpu/vector_targets.hpp"

namespace convfilt {

/// Calls check() with each of those that HWY_DYNAMIC_DISPATCH may choose, and puts its choice back.
template <class Check>
void with_each_target(const Check& check) {
  int targets = 0;
  for (const std::int64_t target :
       {HWY_AVX3_DL, HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_SSSE3, HWY_NEON, HWY_SCALAR}) {
    hwy::SetSupportedTargetsForTest(0);
    if (!(hwy::SupportedTargets() & target) || !(HWY_TARGETS & target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    ++targets;
    CAPTURE(std::string(hwy::TargetName(target)));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  REQUIRE(targets > 0);
}

}  // namespace convfilt
