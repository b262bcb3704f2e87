/// JPEGs on a CUDA device: decoded, filtered and encoded there, so that no pixel visits the host.
#pragma once

#include <optional>

#include "src/filter/resident.hpp"
#include "src/run/device_lanes.hpp"
#include "src/run/job_list.hpp"

namespace convfilt {

/// Makes a device that does this work. `ordinal` is the CUDA device's, and each codec takes
/// that many host threads. It throws DeviceError where CUDA or nvImageCodec is missing.
MakeBatchDevice device_pictures(int ordinal, const ConvolverOptions& options, FilterPtr filter,
                                int threads);

/// Whether by their names the job's picture is a JPEG and stays one.
bool stays_jpeg(const Job& job, const WriteOptions& write);

/// The picture as a device takes it, or nothing where it is none for a device: no plain JPEG, one
/// that becomes something else, or one that takes more than that many bytes of host memory (0: as
/// many as it may). `why_cpu` then says why a JPEG is none. `admit` of the file is told what it
/// takes. Throws as PictureReader does.
std::optional<DeviceJob> device_job(std::size_t job, const FileJob& file,
                                    std::int64_t most_memory = 0, std::string* why_cpu = nullptr);

/// Writes what the device has made. Throws IoError.
FileReport write_result(const DeviceJob& job, const DeviceResult& result,
                        const std::string& device);

}  // namespace convfilt
