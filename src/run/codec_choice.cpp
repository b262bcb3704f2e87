#include "src/run/codec_choice.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/codecs/jpeg/device.hpp"
#include "src/run/device_pictures.hpp"
#include "src/run/journal.hpp"

namespace convfilt {
namespace {

/// Whether that many bytes of JPEG files repay the four seconds that a GPU and its codecs take to
/// start.
bool repays_gpu(std::int64_t bytes, const Machine& machine) {
  // A core decodes, blurs and encodes some 15 MB of JPEG a second.
  constexpr double kBytesPerCore = 15e6, kSeconds = 5;
  return machine.built_with_cuda && double(bytes) > kSeconds * kBytesPerCore * machine.cores;
}

}  // namespace

std::string gpu_codec_missing(const Machine& machine) {
  const std::string& missing = machine.cuda().missing;
  return missing.empty() ? DeviceJpeg::missing() : missing;
}

std::string gpu_codec_refuses(const Batch& batch) {
  if (const std::string why = batch.filter->resident_refuses(); !why.empty()) return why;
  if (batch.read.loader != Loader::automatic) return "--loader names another codec";
  if (batch.write.needs_coefficients())
    return std::string(batch.write.progressive ? "--progressive" : "--optimize") +
           " needs the CPU's codec";
  const Request& request = batch.convolver.request;
  if (request.device == name_of(DeviceKind::cpu) || request.device == name_of(DeviceKind::emulator))
    return "--device=" + request.device + " names no GPU";
  const Strategy* strategy = this_machine().find(request.strategy);
  if (strategy && !strategy->runs_on(DeviceKind::cuda))
    return "--strategy=" + request.strategy + " does not run on a GPU";
  return "";
}

std::int64_t bytes_for_gpu(const JobSource& jobs, const WriteOptions& write) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < jobs.count; ++i) {
    const Job job = jobs.job(i);
    if (!stays_jpeg(job, write)) continue;
    if (const std::optional<FileStamp> stamp = stamp_of(job.in)) bytes += std::int64_t(stamp->size);
  }
  return bytes;
}

CodecAnswer automatic_codec(const CodecQuestion& question, const Machine& machine,
                            std::string (*missing)(const Machine&)) {
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

CodecAnswer automatic_codec(const Batch& batch, const BatchPlan& plan, const Machine& machine) {
  CodecQuestion question;
  question.refusal = gpu_codec_refuses(batch);
  if (batch.resume) question.begun = codec_begun(settings_of_journal(batch), batch);
  question.is_shard = batch.shard.count > 1;
  question.bytes = bytes_for_gpu(plan.jobs_to_filter(), batch.write);
  return automatic_codec(question, machine);
}

std::optional<CodecKind> codec_begun(const std::string& begun, Batch batch,
                                     const std::string& (*gpu_codec_version)()) {
  if (begun.empty()) return std::nullopt;
  for (const CodecKind codec : {CodecKind::cpu, CodecKind::gpu}) {
    batch.codec = codec;
    if (hash_in(begun) == hash_in(settings_of(batch, gpu_codec_version))) return codec;
  }
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

}  // namespace convfilt
