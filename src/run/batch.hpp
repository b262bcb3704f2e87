/// Pictures, what is done to them, and within which limits: one struct from the command line to the
/// stages of a run.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "src/filter/filter.hpp"
#include "src/picture/codecs/jpeg/device.hpp"
#include "src/picture/io.hpp"
#include "src/run/job_list.hpp"
#include "src/run/shard.hpp"

namespace convfilt {

enum class IfExists { overwrite, skip, fail };

/// Who reads and writes JPEGs. The CPU and GPUs round pixels differently, so one run takes one of
/// them for all JPEGs of its kind, whatever the load.
enum class CodecKind { automatic, cpu, gpu };

struct Batch {
  Selection selection;
  Shard shard;
  IfExists if_exists = IfExists::overwrite;
  bool newer = false;   ///< only inputs that changed after their results
  bool resume = false;  ///< only what the journal does not have
  ReadOptions read;
  WriteOptions write;

  FilterPtr filter;
  std::string recipe;          ///< of a chain of filters, in one line; empty = it is none
  ConvolverOptions convolver;  ///< its request has the number of threads, too
  CodecKind codec = CodecKind::automatic;
  std::string devices;  ///< all, or numbers; empty = all, or the one that --device names

  std::int64_t max_memory = 0;              ///< bytes for all pictures under way; 0 = no limit
  bool fail_fast = false;                   ///< nothing is begun after a failure
  const std::atomic<bool>* stop = nullptr;  ///< drops what is under way when it becomes true

  /// Whether a result may replace a file.
  bool replaces() const { return if_exists == IfExists::overwrite || newer; }

  bool is_stopped() const { return stop && stop->load(); }

  /// The folder of the results.
  std::string folder() const;
};

/// A hash of all that decides the bytes of results, but for how the work is shared. Every option
/// that decides one must be in it: tests/cli/folders/settings.sh finds those that are not. Behind
/// the hash stands the recipe, where there is one. Only
/// codecs of a GPU ask for their version, since that loads their library.
std::string settings_of(const Batch& batch,
                        const std::string& (*gpu_codec_version)() = DeviceJpeg::version);

}  // namespace convfilt
