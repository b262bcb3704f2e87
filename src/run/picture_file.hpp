/// One picture from file to file: decoded, filtered and encoded at the same time, in bands of rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/filter/filter.hpp"
#include "src/picture/io.hpp"

namespace convfilt {

/// What was done. Milliseconds of stages are those in which a core was busy with them; together
/// they may exceed the time in all.
struct FileReport {
  Header header;  ///< the input's
  double read_ms = 0, filter_ms = 0, write_ms = 0;
  double all_ms = 0;
  struct {
    double decode = 0, filter = 0, encode = 0;
  } device_ms;  ///< in which a device was busy with it, its share of batches; no core was
  int bands = 1;
  std::string why_whole;  ///< empty where the picture went in bands
  std::string strategy, device;
  std::string codec = "cpu";  ///< or "gpu": whose codecs read and wrote it
  std::string why_cpu;        ///< of a JPEG among those that GPUs read and write
  std::vector<std::string> warnings;

  /// See FileJob::commits_later. Throws as filter_file() does, but never Stopped.
  std::function<void()> commit{};
};

struct FileJob {
  std::string in, out;  ///< paths; "-" = standard input, standard output
  ReadOptions read;
  WriteOptions write;
  int threads = 0;  ///< 0 = all cores

  bool replaces = true;  ///< whether the output may replace a file; else FileIsThere is thrown
  bool shares_threads = false;  ///< takes those of the caller's arena, not an arena of its own

  /// Whether the output appears only when somebody calls FileReport::commit, once, on any thread.
  /// That waits for the disk and computes nothing, so that its core can take another picture.
  bool commits_later = false;

  const std::atomic<bool>* stop = nullptr;  ///< Stopped is thrown when it becomes true

  /// Whether that many bytes are free. Where they are not, a picture that would take them on all
  /// threads goes on one, where it takes the least. Empty: they are.
  std::function<bool(std::int64_t bytes)> has_room{};

  /// Called with the bytes that the picture is going to take, before it takes them; may throw. Some
  /// readers must take a part before the rest is known: then the first call has the part, and `all`
  /// is false.
  std::function<void(std::int64_t bytes, bool all)> admit{};

  /// See AtomicFile::commit().
  std::function<void(const FileStamp&)> before_commit{};
};

/// A picture was dropped since FileJob::stop became true.
struct Stopped {};

/// Filters a picture. The output appears whole or not at all. Throws IoError, UsageError, Stopped,
/// and what the filter throws.
FileReport filter_file(const FileJob& asked, const Filter& filter, Convolver& convolver);

}  // namespace convfilt
