/// Many pictures on all cores, within a limit of memory, and on GPUs beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/run/crew.hpp"

namespace convfilt {

/// Limits of the pictures that lanes of GPUs with codecs take.
struct LaneLimits {
  std::size_t most_pictures = 128;                   ///< of a batch
  std::int64_t most_pixels = std::int64_t{1} << 30;  ///< of a batch, unless it is one picture
  std::size_t most_waiting = 256;                    ///< pictures that wait, for each lane
  std::int64_t most_bytes = std::int64_t{1} << 33;   ///< of pictures that wait or are under way,
                                                     ///< unless it is one picture
};

/// How many threads may work on pictures within a limit of memory, in bytes (0 = none), of
/// `threads` (0 = all cores): each keeps buffers that no picture has any more, for the next one.
int threads_within(std::int64_t max_memory, int threads);

/// Filters the jobs, begun in their order; outcomes come in the order in which jobs end. A job's
/// failure ends no other. Jobs that were dropped, or not begun, have no outcome. What a device
/// cannot do, or began when it failed, is done on the CPU; so is a picture whose lane throws
/// DeviceError, unless it is filtered alone. No lane takes that lane's CUDA device from then on,
/// unless its memory was too small for the picture alone. The result says why devices were given
/// up. Throws what JobEvents::after throws, when all that was begun has ended.
std::vector<std::string> filter_jobs(const JobSource& jobs, const Batch& batch, Crew& crew,
                                     JobEvents& events, const LaneLimits& limits = {});

}  // namespace convfilt
