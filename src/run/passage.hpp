/// A picture on its way through the stages of a run.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/atomic_file.hpp"
#include "src/picture/io.hpp"
#include "kernels/backend/host/arena.hpp"
#include "src/run/batch.hpp"

namespace convfilt {

/// Milliseconds of stages.
struct StageTimes {
  double decode = 0, filter = 0, encode = 0;

  double all() const { return decode + filter + encode; }
  StageTimes& operator+=(const StageTimes& other) {
    decode += other.decode;
    filter += other.filter;
    encode += other.encode;
    return *this;
  }
};

/// How a picture was filtered.
struct FileReport {
  Header header;         ///< the input's
  StageTimes ms;         ///< in which a core was busy with it; their sum may exceed all_ms
  StageTimes device_ms;  ///< in which a device was busy with it: its share of batches
  double all_ms = 0;
  int bands = 1;
  std::string why_whole;      ///< empty where the picture went in bands
  std::string why_in_memory;  ///< why bands were cut from a picture in memory; empty where not
  std::string strategy, device;
  std::string codec = "cpu";  ///< or "gpu": whose codecs read and wrote it
  std::string why_cpu;        ///< why the CPU filtered a JPEG while GPUs took JPEGs
  std::vector<std::string> warnings;
  std::vector<std::string> details;  ///< of a picture that is filtered alone, for -v
};

enum class Outcome { filtered, skipped, failed, not_begun };

/// The outcome of a picture, and its details.
struct PictureOutcome {
  const Job* job = nullptr;
  Outcome outcome = Outcome::filtered;
  std::string reason;          ///< why it was not filtered
  std::exception_ptr failure;  ///< what was thrown for it; null where nothing was
  FileReport report;           ///< if it was filtered
  FileStamp in, out;           ///< the input's before it is read, and the result's
};

struct Passage;

/// A run, as its pictures see it. Several threads call these at once.
class Gate {
 public:
  /// Whether that many bytes are free.
  virtual bool has_room(const Passage& passage, std::int64_t bytes) = 0;

  /// Admits the bytes that the picture is going to take, before it takes them; may throw. Some
  /// readers must take a part before the rest is known: then the first call has the part, and `all`
  /// is false.
  virtual void admit(Passage& passage, std::int64_t bytes, bool all) = 0;

  /// See AtomicFile::commit().
  virtual void before_commit(Passage& passage, const FileStamp& stamp) = 0;

 protected:
  ~Gate() = default;
};

/// A picture that goes from stage to stage, each of which has it alone.
struct Passage {
  Passage(const Batch& all, const Job& one) : batch(all), job(one) { outcome.job = &one; }

  const Batch& batch;
  const Job& job;
  std::size_t number = 0;  ///< of the job
  int threads = 0;         ///< that its bands may take; 0 = all cores
  Gate* gate = nullptr;    ///< null: it may take all that it wants
  Arena* arena = nullptr;  ///< whose threads take its bands; null: it starts some

  std::int64_t memory = 0;                  ///< bytes that were admitted
  bool was_postponed = false;               ///< for want of memory
  bool was_given_back = false;              ///< by devices, so that it is the CPU's
  std::unique_ptr<PictureReader> reader{};  ///< of a picture for a device
  std::string why_cpu{};                    ///< see FileReport
  std::function<void()>
      commit{};  ///< gives the result its name; computes nothing, so that it needs no core
  PictureOutcome outcome{};

  bool has_room(std::int64_t bytes) const { return !gate || gate->has_room(*this, bytes); }
  void admit(std::int64_t bytes, bool all) {
    if (gate) gate->admit(*this, bytes, all);
  }

  /// The batch's options, which let a reader take memory only when it is admitted.
  ReadOptions reading() {
    ReadOptions read = batch.read;
    if (gate) read.admit = [this](std::int64_t bytes) { admit(bytes, false); };
    return read;
  }
  void before_commit(const FileStamp& stamp) {
    if (gate) gate->before_commit(*this, stamp);
  }
};

using PassagePtr = std::unique_ptr<Passage>;

/// A picture was dropped since Batch::stop became true.
struct Stopped {};

}  // namespace convfilt
