/// Division of counts, rounded up.
#pragma once

namespace convfilt {

/// a / b, rounded up. a must be at least 0, b at least 1, and a + b - 1 within int.
constexpr int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

}  // namespace convfilt
