/// JPEGs on a CUDA device: decoded, filtered and encoded there, so that no pixel visits the host.
#pragma once

#include "src/run/crew.hpp"

namespace convfilt {

/// Makes a device that does this work. `ordinal` is the CUDA device's, and each codec takes that
/// many host threads. Throws DeviceError where CUDA or nvImageCodec is missing.
std::unique_ptr<BatchDevice> device_pictures(int ordinal, const Batch& batch, int threads);

/// Whether by their names the job's picture is a JPEG and stays one.
bool stays_jpeg(const Job& job, const WriteOptions& write);

/// Opens the picture for a device. False where it is none for a device: no plain JPEG, one that
/// becomes something else, or one that takes more host memory than there may be; then why_cpu
/// of its report says why a JPEG is none. Throws as PictureReader and Admission::admit() do.
bool open_for_device(Passage& passage);

/// Writes what the device has made, and reports it, but for the time that it takes. Throws IoError.
FileReport write_result(Passage& passage, const DeviceResult& result, const std::string& device);

}  // namespace convfilt
