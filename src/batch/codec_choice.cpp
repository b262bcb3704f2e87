#include "src/batch/codec_choice.hpp"

#include <algorithm>
#include <charconv>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/batch/device_pictures.hpp"
#include "src/picture/device_jpeg.hpp"

namespace convfilt {

std::string gpu_codec_missing(const Machine& machine) {
  const std::string& missing = machine.cuda().missing;
  return missing.empty() ? DeviceJpeg::missing() : missing;
}

bool repays_gpu(std::int64_t bytes, const Machine& machine) {
  // A core decodes, blurs and encodes some 15 MB of JPEG a second.
  constexpr double kBytesPerCore = 15e6, kSeconds = 3;
  return machine.built_with_cuda && double(bytes) > kSeconds * kBytesPerCore * machine.cores;
}

std::vector<int> device_ordinals(const std::string& devices, const Machine& machine) {
  std::vector<int> all;
  for (const CudaDevice& device : machine.cuda().devices) all.push_back(device.ordinal);
  if (devices == "all") return all;
  std::vector<int> named;
  for (const char *at = devices.data(), *end = at + devices.size(); at <= end; ++at) {
    int ordinal = -1;
    const auto [next, error] = std::from_chars(at, end, ordinal);
    if (error != std::errc() || (next != end && *next != ',') || ordinal < 0)
      throw UsageError("--devices: all, or numbers with commas between them, such as 0,1; not " +
                       in_quotes(devices));
    if (std::ranges::find(all, ordinal) == all.end())
      throw DeviceError("--devices: there is no CUDA device " + std::to_string(ordinal) +
                        "; convfilt list devices says which there are");
    if (std::ranges::find(named, ordinal) == named.end()) named.push_back(ordinal);
    at = next;
  }
  return named;
}

std::vector<MakeBatchDevice> gpu_lanes(const std::vector<int>& ordinals,
                                       const ConvolverOptions& options, const Mask& mask,
                                       const Machine& machine) {
  // While one lane decodes, another filters and encodes. Their threads wait for the device most of
  // the time, and take turns with those that read and check the next files.
  constexpr int kLanes = 2, kThreadsPerDevice = 8;
  const int cores = std::max(1, machine.cores / int(ordinals.size()));
  const int threads = std::max(1, std::min(cores, kThreadsPerDevice) / kLanes);
  std::vector<MakeBatchDevice> lanes;
  for (const int ordinal : ordinals)
    for (int lane = 0; lane < kLanes; ++lane)
      lanes.push_back(device_pictures(ordinal, options, mask, threads));
  return lanes;
}

}  // namespace convfilt
