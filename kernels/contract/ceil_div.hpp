/// Division of counts, rounded up.
#pragma once

namespace convfilt {

/// Needs a >= 0, b >= 1, and a + b - 1 within int.
constexpr int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

}  // namespace convfilt
