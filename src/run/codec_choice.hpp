/// Who reads and writes the JPEGs of a run: the CPU, or the codecs of GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/auto/machine.hpp"
#include "src/run/run.hpp"

namespace convfilt {

/// Why no GPU can do these pictures, with the remedy; empty where one can. Asks the driver, and
/// loads the codecs.
std::string gpu_codec_missing(const Machine& machine);

/// Why GPUs cannot read and write JPEGs of this run, with the remedy; empty where they can.
std::string gpu_codec_refuses(const Batch& batch);

/// Bytes of the jobs' files that a GPU would read: JPEGs, by their names, that become JPEGs.
std::int64_t bytes_for_gpu(const JobSource& jobs, const WriteOptions& write);

/// The facts that decide by default.
struct CodecQuestion {
  std::string refusal;             ///< gpu_codec_refuses()
  std::optional<CodecKind> begun;  ///< how the run began that is resumed
  bool is_shard = false;           ///< of several
  std::int64_t bytes = 0;          ///< bytes_for_gpu()
};

struct CodecAnswer {
  CodecKind codec = CodecKind::cpu;
  std::string why;  ///< half a sentence for -v
};

/// `missing` is gpu_codec_missing(), which is asked only when the answer matters.
CodecAnswer automatic_codec(const CodecQuestion& question, const Machine& machine,
                            std::string (*missing)(const Machine&) = gpu_codec_missing);

/// The same for the pictures of a plan. A run goes on with the codec with which it began.
CodecAnswer automatic_codec(const Batch& batch, const BatchPlan& plan, const Machine& machine);

/// The codec by which a run began whose journal has the settings `begun`, empty where it has none.
std::optional<CodecKind> codec_begun(
    const std::string& begun, Batch batch,
    const std::string& (*gpu_codec_version)() = DeviceJpeg::version);

/// The kind of decoders to which a run on these devices keeps; empty where the first that is made
/// may decide. Devices of several models have hybrid ones, as every device has: else the bytes
/// would depend on which of them is ready first.
std::string decoders_for(const std::vector<int>& ordinals, const Machine& machine);

/// The numbers that --devices names; none where it says "all". Throws UsageError where the text is
/// no such list.
std::optional<std::vector<int>> device_numbers(const std::string& devices);

/// The numbers of the devices that --devices names. Throws as device_numbers() does, and
/// DeviceError where there is no such device.
std::vector<int> device_ordinals(const std::string& devices, const Machine& machine);

}  // namespace convfilt
