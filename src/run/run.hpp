/// A batch of pictures: which of them there is something to do for, the journal, and the end. One
/// picture is a list of one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/run/crew.hpp"

namespace convfilt {

/// The pictures of a batch.
struct BatchPlan {
  JobList list;                        ///< of this shard
  std::size_t of_all_shards = 0;       ///< jobs
  std::vector<std::size_t> to_filter;  ///< of list.jobs
  std::vector<Ending> settled;         ///< the rest; numbers are those of list.jobs

  JobSource jobs_to_filter() const {
    return {to_filter.size(), [this](std::size_t i) { return list.jobs[to_filter[i]]; }};
  }
};

/// Lists the pictures; writes nothing. Throws as list_jobs() does.
BatchPlan plan_batch(const Batch& batch);

/// Throws IoError where run() would refuse to resume.
void check_resumes(const Batch& batch);

/// The settings in the journal of an earlier run; empty where there is none.
std::string settings_of_journal(const Batch& batch);

struct RunTotals {
  std::int64_t filtered = 0, skipped = 0, failed = 0;
  std::int64_t not_begun = 0;    ///< after a signal, or a failure with fail_fast
  std::int64_t through_gpu = 0;  ///< of those filtered: read and written by a GPU's codecs
  std::int64_t pixels = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  StageTimes ms;         ///< sums over all cores
  StageTimes device_ms;  ///< sums over the lanes of GPUs
  double all_ms = 0;
  std::vector<std::string> device_failures;  ///< why devices were given up, a sentence each
};

/// Filters what the plan says, into a folder that is made where it is not there. `on_outcome` is
/// called for each picture by one thread at a time, first for those that are settled, last for
/// those that a signal or a failure has kept from being begun, or dropped. Throws IoError where
/// nothing can be written.
RunTotals run(const Batch& batch, const BatchPlan& plan, Crew& crew,
              const std::function<void(const PictureOutcome&)>& on_outcome);

}  // namespace convfilt
