/// What a fuzz target holds to be true.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace convfilt::testing {

/// Ends the program where `holds` is false, also with NDEBUG.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace convfilt::testing
