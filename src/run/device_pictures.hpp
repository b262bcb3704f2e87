/// JPEGs on a CUDA device: decoded, filtered and encoded there, so that no pixel visits the host.
#pragma once

#include <mutex>

#include "src/picture/codecs/jpeg/device.hpp"
#include "src/run/crew.hpp"

namespace convfilt {

/// The codecs of a CUDA device, which its lanes share. One lane decodes at a time and one encodes:
/// two that decode at once take longer than one after the other (on an H100, photographs of 12
/// megapixels: 278 a second, and 354 by turns), and making a second decoder takes most of a second.
/// On an H200 a second one does not speed up photographs of 2 megapixels either.
struct SharedCodec {
  SharedCodec(int ordinal, int threads) : codec(ordinal, threads) {}

  DeviceJpeg codec;
  std::mutex decodes, encodes;
};

/// Makes a lane of the CUDA device that does this work. Throws DeviceError where CUDA is missing.
std::unique_ptr<BatchDevice> device_pictures(int ordinal, const Batch& batch,
                                             std::shared_ptr<SharedCodec> codec);

/// Whether by their names the job's picture is a JPEG and stays one.
bool stays_jpeg(const Job& job, const WriteOptions& write);

/// Opens the picture for a device. False where it is none for a device: no plain JPEG, one that
/// becomes something else, or one that takes more host memory than there may be; then why_cpu
/// of its report says why a JPEG is none. Throws as PictureReader and Admission::admit() do.
bool open_for_device(Passage& passage);

/// Writes what the device has made, and reports it, but for the time that it takes. Throws IoError.
FileReport write_result(Passage& passage, const DeviceResult& result, const std::string& device);

}  // namespace convfilt
