/// The lanes of this machine for a batch.
#pragma once

#include "src/run/crew.hpp"

namespace convfilt {

/// The batch's codec is chosen. `of_all_shards` is the number of pictures. Throws UsageError and
/// DeviceError where the batch asks for GPUs and can have none. The batch must outlive the crew.
std::unique_ptr<Crew> crew_for(const Batch& batch, std::size_t of_all_shards);

}  // namespace convfilt
