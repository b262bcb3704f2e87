/// Who reads and writes the JPEGs of a folder: the CPU, or the codecs of GPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/auto/machine.hpp"
#include "src/filter/filter.hpp"
#include "src/filter/resident.hpp"
#include "src/run/device_lanes.hpp"
#include "src/run/job_list.hpp"

namespace convfilt {

/// What a person asks for. The two round pixels differently, so a run takes one for all JPEGs of
/// its kind, whatever the load.
enum class CodecKind { automatic, cpu, gpu };

/// Why no GPU can do these pictures, with the remedy; empty where one can. Asks the driver, and
/// loads the codecs.
std::string gpu_codec_missing(const Machine& machine);

/// Whether that many bytes of JPEG files repay the four seconds that a GPU and its codecs take to
/// start.
bool repays_gpu(std::int64_t bytes, const Machine& machine);

/// Bytes of the jobs' files that a GPU would read: JPEGs, by their names, that become JPEGs.
std::int64_t bytes_for_gpu(const std::vector<Job>& jobs, const WriteOptions& write);

/// What decides where nobody says who it is to be.
struct CodecQuestion {
  std::string refusal;             ///< why no GPU may do it; empty where one may
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
                            const std::function<std::string(const Machine&)>& missing);

/// What a codec adds to the settings of a journal: a GPU's is the library's, whose `version` is
/// asked for it alone, since that loads the library.
std::string settings_of_codec(CodecKind codec, const std::function<std::string()>& version);

/// The codec by which a run began whose journal has the settings `begun`, empty where it has none.
/// `settings` says what they are by each codec, and is not asked for a GPU's in vain.
std::optional<CodecKind> codec_begun(const std::string& begun,
                                     const std::function<std::string(CodecKind)>& settings);

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

/// Lanes for those devices.
std::vector<MakeBatchDevice> gpu_lanes(const std::vector<int>& ordinals,
                                       const ConvolverOptions& options, const FilterPtr& filter,
                                       const Machine& machine);

}  // namespace convfilt
