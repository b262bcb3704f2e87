#include "src/run/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace convfilt {

std::uint64_t allow_open_files(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::max(before, std::min(rlim_t(wanted), limit.rlim_max));
  if (limit.rlim_cur != before && ::setrlimit(RLIMIT_NOFILE, &limit) != 0) return before;
  return limit.rlim_cur;
}

}  // namespace convfilt
