/// A folder of pictures: which of them there is something to do for, the journal, and the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/run/journal.hpp"
#include "src/run/schedule.hpp"
#include "src/run/shard.hpp"

namespace convfilt {

enum class IfExists { overwrite, skip, fail };

struct FolderOptions {
  Selection selection;
  Shard shard;
  IfExists if_exists = IfExists::overwrite;
  bool newer = false;    ///< just inputs that changed after their results
  bool resume = false;   ///< just what the journal has not
  std::string settings;  ///< see Journal
  ScheduleOptions schedule;

  /// Whether a result may replace a file.
  bool replaces() const { return if_exists == IfExists::overwrite || newer; }

  /// What GPUs' decoders are, since each kind rounds in its own way: a run keeps to one, as does
  /// the run that resumes it. Empty where the CPU has all pictures.
  struct {
    std::function<std::string()> kind;  ///< empty as long as there is none
    std::function<void(const std::string&)> keep_to;
  } decoders;
};

enum class Outcome { filtered, skipped, failed, not_begun };

/// What became of one picture.
struct PictureOutcome {
  const Job* job = nullptr;
  Outcome outcome = Outcome::filtered;
  std::string reason;  ///< of one that was not filtered
  FileReport report;   ///< of one that was filtered
  std::uint64_t bytes_read = 0, bytes_written = 0;
};

/// What there is to do, for --dry-run.
struct FolderPlan {
  JobList list;                         ///< of this shard
  std::size_t of_all_shards = 0;        ///< jobs
  std::vector<std::size_t> to_filter;   ///< of list.jobs
  std::vector<PictureOutcome> settled;  ///< the rest
};

/// Lists the pictures; writes nothing. Throws as list_jobs() does.
FolderPlan plan_folder(const FolderOptions& options);

/// The same for one picture, whose result may have any name; "-" is standard input or output.
FolderPlan plan_picture(const FolderOptions& options, const Job& job);

/// Throws IoError where filter_folder() would refuse to resume.
void check_resumes(const FolderOptions& options);

/// What an earlier run's results were made by, as its journal says; empty where there is none.
std::string settings_of_journal(const FolderOptions& options);

struct FolderTotals {
  std::int64_t filtered = 0, skipped = 0, failed = 0;
  std::int64_t not_begun = 0;    ///< after a signal, or a failure with fail_fast
  std::int64_t through_gpu = 0;  ///< of those filtered: read and written by a GPU's codecs
  std::int64_t pixels = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  double read_ms = 0, filter_ms = 0, write_ms = 0;            ///< sums over all cores
  double decode_ms = 0, device_filter_ms = 0, encode_ms = 0;  ///< sums over the lanes of GPUs
  double all_ms = 0;
  std::vector<std::string> device_failures;  ///< why devices were given up, a sentence each
};

/// Filters what the plan says, into a folder that is made where it is not there. `on_outcome` is
/// called for each picture by one thread at a time, first for those that are settled, last for
/// those that a signal or a failure has kept from being begun, or dropped. Throws IoError where
/// nothing can be written.
FolderTotals filter_folder(const FolderOptions& options, const FolderPlan& plan,
                           const MakeLane& make_lane,
                           const std::function<void(const PictureOutcome&)>& on_outcome);

/// What the journals of a folder say together.
struct MergeReport {
  std::int64_t done = 0;
  std::vector<Shard> missing_shards;  ///< without a journal
  std::vector<Shard> unfinished_shards;
  std::vector<Shard> changed_shards;  ///< whose journals say something else than at their end
  std::vector<std::string> kept;      ///< names whose result was there, and may be of other options
  std::vector<std::string> missing;   ///< names without a result, or whose result has changed
  std::vector<std::pair<std::string, std::string>> failed;  ///< names, and why
  std::vector<std::string> twice;                           ///< names that two shards have done
  std::int64_t bad_lines = 0;

  bool is_whole() const {
    return missing_shards.empty() && unfinished_shards.empty() && changed_shards.empty() &&
           missing.empty() && failed.empty() && twice.empty();
  }
};

/// Joins the journals of shards to one, which takes their place where nothing is missing. Where the
/// folder has just that one, it stays, and the report says whether its results are still there.
/// Throws IoError where the folder has none, or where they are those of several divisions, settings
/// or kinds of decoders.
MergeReport merge_journals(const std::string& folder);

}  // namespace convfilt
