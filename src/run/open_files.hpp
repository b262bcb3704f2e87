/// How many files a process may have open.
#pragma once

#include <cstdint>

namespace convfilt {

/// Raises the process's limit of open files to that many, or as far as it may be raised; lowers
/// nothing. Says what the limit is now; 0 where there is none that is known.
std::uint64_t allow_open_files(std::uint64_t wanted);

}  // namespace convfilt
