/// How much lies around a student's shared and constant memory.
#pragma once

#include <cstddef>

namespace convfilt::lesson {

constexpr std::size_t kSectionGuard = std::size_t{1} << 16;  ///< bytes, on each side

}  // namespace convfilt::lesson
