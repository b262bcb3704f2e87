/// Tests that draw need gnuplot, which a machine of GPUs may lack.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>

namespace convfilt::testing {

/// Whether gnuplot is missing; the test says so where it is.
inline bool gnuplot_missing() {
  static const bool missing = std::system("command -v gnuplot >/dev/null 2>&1") != 0;
  if (missing) MESSAGE("skipped: gnuplot is not installed");
  return missing;
}

}  // namespace convfilt::testing
