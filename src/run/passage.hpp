/// A picture on its way through the stages of a run.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backend/host/arena.hpp"
#include "kernels/huffman/walk.hpp"
#include "src/base/atomic_file.hpp"
#include "src/picture/io.hpp"
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
  Header header;            ///< the input's first picture's
  int pictures = 0;         ///< of the file that were filtered
  std::int64_t pixels = 0;  ///< of those
  StageTimes ms;            ///< in which a core was busy with it; their sum may exceed all_ms
  StageTimes device_ms;     ///< in which a device was busy with it: its share of batches
  double all_ms = 0;
  int bands = 1;
  std::string why_whole;      ///< empty where the picture went in bands
  std::string why_in_memory;  ///< why bands were cut from a picture in memory; empty where not
  std::string strategy, device;
  bool keeps_chroma = false;  ///< whether the result has the chroma of the input, bit for bit
  std::string codec = "cpu";  ///< or "gpu": whose codecs read and wrote it
  std::string why_cpu;        ///< why the CPU filtered a JPEG while GPUs took JPEGs
  std::vector<std::string> warnings;
  std::vector<std::string> details;  ///< of a picture that is filtered alone, for -v
};

enum class Outcome { filtered, skipped, failed, not_begun };

/// How a picture has ended.
struct Ending {
  std::size_t number = 0;  ///< of the job
  Outcome outcome = Outcome::filtered;
  std::string reason{};          ///< why it was not filtered
  std::exception_ptr failure{};  ///< what was thrown for it; null where nothing was
};

/// The outcome of a picture, and its details.
struct PictureOutcome : Ending {
  const Job* job = nullptr;
  FileReport report{};    ///< if it was filtered
  FileStamp in{}, out{};  ///< the input's before it is read, and the result's
};

struct Passage;

/// The bytes that pictures of a run may take. Several threads call these at once. By default
/// everything is admitted.
class Admission {
 public:
  /// Whether that many bytes are free.
  virtual bool has_room(const Passage& /*picture*/, std::int64_t /*bytes*/) { return true; }

  /// Admits the bytes that the picture is going to take, before it takes them; may throw. Some
  /// readers must take a part before the rest is known: then the first call has the part, and `all`
  /// is false.
  virtual void admit(Passage& /*picture*/, std::int64_t /*bytes*/, bool /*all*/) {}

 protected:
  ~Admission() = default;
};

/// The steps of a run for its pictures beside filtering. Several threads call the first two, one at
/// a time the third. If one of the first two throws, the picture fails.
class JobEvents {
 public:
  virtual void before(PictureOutcome& /*picture*/) {}

  /// See AtomicFile::commit().
  virtual void before_commit(PictureOutcome& /*picture*/, const FileStamp& /*stamp*/) {}
  virtual void after(const PictureOutcome& /*picture*/) {}

 protected:
  ~JobEvents() = default;
};

/// A picture that goes from stage to stage, each of which has it alone.
struct Passage {
  Passage(const Batch& all, Job one, Admission& bytes, JobEvents& steps)
      : batch(all), job(std::move(one)), admission(bytes), events(steps) {
    outcome.job = &job;
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  const Batch& batch;
  const Job job;
  Admission& admission;
  JobEvents& events;
  int threads = 1;         ///< that its bands may take
  Arena* arena = nullptr;  ///< whose threads take its bands; null: it starts some

  std::int64_t memory = 0;                  ///< bytes that were admitted
  std::unique_ptr<PictureReader> reader{};  ///< of a picture for a device
  std::unique_ptr<huffman::Scan> codes{};   ///< of it, for the device to walk over
  std::function<void()> commit{};  ///< gives the result its name; needs no core, but the disk
  PictureOutcome outcome{};

  /// The batch's options, which let a reader take memory only when it is admitted.
  ReadOptions reading() {
    ReadOptions read = batch.read;
    if (job.page) read.page = job.page;
    read.several = several_in(job.out, batch.write);
    read.admit = [this](std::int64_t bytes) { admission.admit(*this, bytes, false); };
    return read;
  }
};

using PassagePtr = std::unique_ptr<Passage>;

/// A picture was dropped since Batch::stop became true.
struct Stopped {};

}  // namespace convfilt
