/// Libraries that write to stderr by themselves.
#pragma once

#include <cstdio>
#include <iostream>
#include <type_traits>

namespace convfilt {

/// Points a standard stream elsewhere, in C libraries that allow it.
template <class Stream>
void point(Stream& stream, std::FILE* to) {
  if constexpr (std::is_assignable_v<Stream&, std::FILE*>) stream = to;
}

/// Debian 13's libjxl and x265 write to stderr, and OpenCV to std::cerr, what they then return, or
/// what does not matter. From the first call on they find streams there that go nowhere. The
/// program's own messages keep the stream that they began with. It is never pointed back: each
/// module has its own copy of this function, and could restore another's.
inline void quiet_errors() {
  [[maybe_unused]] static const bool done = [] {
    if (std::FILE* const nowhere = std::fopen("/dev/null", "we")) point(stderr, nowhere);
    std::cerr.rdbuf(nullptr);
    return true;
  }();
}

}  // namespace convfilt
