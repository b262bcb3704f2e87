/// Many pictures on all cores, within a limit of memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/run/device_lanes.hpp"
#include "src/run/job_list.hpp"
#include "src/run/picture_file.hpp"

namespace convfilt {

/// Filters one picture at a time, and keeps what was prepared for the shapes that it met.
class Lane {
 public:
  virtual ~Lane() = default;

  /// Throws as filter_file() does.
  virtual FileReport filter(const FileJob& job) = 0;

  /// The number of the CUDA device that pictures which take one take here; none where all are the
  /// CPU's.
  virtual std::optional<int> gpu() const { return std::nullopt; }
};

struct LaneRequest {
  int threads = 0;         ///< it may take that many for a picture that must be filtered whole
  bool on_cpu = false;     ///< it computes on the CPU, whatever device was asked for
  std::set<int> failed{};  ///< CUDA devices that it must not take; the CPU where no other is left
};

using MakeLane = std::function<std::unique_ptr<Lane>(const LaneRequest&)>;

struct JobResult {
  const Job* job = nullptr;
  std::string failure;    ///< why there is no result; empty where there is one
  bool is_there = false;  ///< it failed since a file has the result's name: see FileIsThere
  FileReport report;      ///< of a result
};

struct ScheduleOptions {
  ReadOptions read;
  WriteOptions write;
  int threads = 0;                          ///< 0 = all cores
  std::int64_t max_memory = 0;              ///< bytes for all pictures under way; 0 = no limit
  bool replaces = true;                     ///< results may replace files
  bool fail_fast = false;                   ///< nothing is begun after a failure
  const std::atomic<bool>* stop = nullptr;  ///< drops what is under way when it becomes true

  std::vector<MakeBatchDevice> devices;  ///< a lane each, for the pictures that device_job() takes
};

/// Whom filter_jobs() tells. Several threads call the first two, one at a time the third. What the
/// first two throw fails the job.
struct JobEvents {
  std::function<void(const Job&)> before;
  std::function<void(const Job&, const FileStamp&)> before_commit;  ///< see AtomicFile::commit()
  std::function<void(const JobResult&)> after;
};

/// How many threads may work on pictures within a limit of memory, in bytes (0 = none), of
/// `threads` (0 = all cores): each keeps buffers that no picture has any more, for the next one.
int threads_within(std::int64_t max_memory, int threads);

/// The message for a picture that takes more memory than there may be.
std::string takes_too_much(const std::string& in, std::int64_t bytes, bool all, std::int64_t most);

/// Filters the jobs, begun in their order; results come in the order in which jobs end. A job's
/// failure ends no other. Jobs that were dropped, or not begun, have no result. What a device
/// cannot do, or began when it failed, is done on the CPU; so is a picture whose lane throws
/// DeviceError. No lane takes that lane's CUDA device from then on, unless its memory was too small
/// for the picture alone. The result says why devices were given up. Throws what JobEvents::after
/// throws, when all that was begun has ended.
std::vector<std::string> filter_jobs(const std::vector<Job>& jobs, const ScheduleOptions& options,
                                     const MakeLane& make_lane, const JobEvents& events);

}  // namespace convfilt
