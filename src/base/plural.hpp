#pragma once

#include <cstdint>
#include <string>

namespace convfilt {

/// "144 rows", "1 row".
inline std::string plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace convfilt
