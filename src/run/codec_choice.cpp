#include "src/run/codec_choice.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/jpeg/device.hpp"
#include "src/run/device_pictures.hpp"

namespace convfilt {

std::string gpu_codec_missing(const Machine& machine) {
  const std::string& missing = machine.cuda().missing;
  return missing.empty() ? DeviceJpeg::missing() : missing;
}

bool repays_gpu(std::int64_t bytes, const Machine& machine) {
  // A core decodes, blurs and encodes some 15 MB of JPEG a second.
  constexpr double kBytesPerCore = 15e6, kSeconds = 5;
  return machine.built_with_cuda && double(bytes) > kSeconds * kBytesPerCore * machine.cores;
}

std::int64_t bytes_for_gpu(const std::vector<Job>& jobs, const WriteOptions& write) {
  std::int64_t bytes = 0;
  for (const Job& job : jobs) {
    if (!stays_jpeg(job, write)) continue;
    if (const std::optional<FileStamp> stamp = stamp_of(job.in)) bytes += std::int64_t(stamp->size);
  }
  return bytes;
}

CodecAnswer automatic_codec(const CodecQuestion& question, const Machine& machine,
                            const std::function<std::string(const Machine&)>& missing) {
  if (!question.refusal.empty()) return {CodecKind::cpu, question.refusal};
  if (question.begun) return {*question.begun, "so the run began"};
  // Shards' results stand beside each other, so neither a shard's size nor its machine decides.
  if (question.is_shard)
    return {CodecKind::cpu, "it is the same for all shards; --codec=gpu for each has GPUs do it"};
  if (!repays_gpu(question.bytes, machine))
    return {CodecKind::cpu, "they are too few to repay a GPU's start"};
  if (const std::string why = missing(machine); !why.empty()) return {CodecKind::cpu, why};
  return {CodecKind::gpu, "they are enough to repay its start"};
}

std::string settings_of_codec(CodecKind codec, const std::function<std::string()>& version) {
  return codec == CodecKind::gpu ? "|gpu|" + version() : "";
}

std::optional<CodecKind> codec_begun(const std::string& begun,
                                     const std::function<std::string(CodecKind)>& settings) {
  if (begun.empty()) return std::nullopt;
  for (const CodecKind codec : {CodecKind::cpu, CodecKind::gpu})
    if (begun == settings(codec)) return codec;
  return std::nullopt;
}

std::string decoders_for(const std::vector<int>& ordinals, const Machine& machine) {
  std::set<std::string> models;
  for (const CudaDevice& device : machine.cuda().devices)
    if (std::ranges::count(ordinals, device.ordinal) > 0) models.insert(device.name);
  return models.size() > 1 ? "hybrid" : "";
}

std::optional<std::vector<int>> device_numbers(const std::string& devices) {
  if (devices == "all") return std::nullopt;
  std::vector<int> named;
  for (const char *at = devices.data(), *end = at + devices.size(); at <= end; ++at) {
    int ordinal = -1;
    const auto [next, error] = std::from_chars(at, end, ordinal);
    if (error != std::errc() || (next != end && *next != ',') || ordinal < 0)
      throw UsageError("--devices: all, or numbers with commas between them, such as 0,1; not " +
                       in_quotes(devices));
    if (std::ranges::find(named, ordinal) == named.end()) named.push_back(ordinal);
    at = next;
  }
  return named;
}

std::vector<int> device_ordinals(const std::string& devices, const Machine& machine) {
  const std::optional<std::vector<int>> named = device_numbers(devices);
  std::vector<int> all;
  for (const CudaDevice& device : machine.cuda().devices) all.push_back(device.ordinal);
  if (!named) return all;
  for (const int ordinal : *named)
    if (std::ranges::find(all, ordinal) == all.end())
      throw DeviceError("--devices: there is no CUDA device " + std::to_string(ordinal) +
                        "; convfilt list devices says which there are");
  return *named;
}

std::vector<MakeBatchDevice> gpu_lanes(const std::vector<int>& ordinals,
                                       const ConvolverOptions& options, const FilterPtr& filter,
                                       const Machine& machine) {
  // While one lane decodes, another filters and encodes. Their threads wait for the device most of
  // the time, and take turns with those that read and check the next files.
  constexpr int kLanes = 2, kThreadsPerDevice = 8;
  const int all = options.request.threads > 0 ? options.request.threads : machine.cores;
  const int cores = std::max(1, all / int(ordinals.size()));
  const int threads = std::max(1, std::min(cores, kThreadsPerDevice) / kLanes);
  std::vector<MakeBatchDevice> lanes;
  for (const int ordinal : ordinals)
    for (int lane = 0; lane < kLanes; ++lane)
      lanes.push_back(device_pictures(ordinal, options, filter, threads));
  return lanes;
}

}  // namespace convfilt
