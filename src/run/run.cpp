#include "src/run/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "src/base/atomic_file.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/bytes.hpp"
#include "src/run/journal.hpp"
#include "src/run/schedule.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// Whether the journal's entry holds for the files that are there.
bool is_done(const DoneEntry& entry, const Job& job) {
  const std::optional<FileStamp> out = stamp_of(job.out);
  return out == entry.out && (stamp_of(job.in) == entry.in || same_file(job.in, job.out));
}

/// Why there is nothing to do for a picture; nothing where there is.
std::optional<Ending> settled(const Job& job, const Batch& batch, const JournalContents* before) {
  Ending ending;
  const auto ends = [&](Outcome kind, const std::string& reason) {
    ending.outcome = kind;
    ending.reason = reason;
    return ending;
  };
  if (before)
    if (const auto entry = before->done(job.name); entry && is_done(*entry, job))
      return ends(Outcome::skipped, "done before");
  try {
    // A missing input is reported as missing, not for the format of its name.
    if (job.in != "-" && ::access(job.in.c_str(), F_OK) != 0) open_source(job.in);
    check_format(job.out, batch.write);
  } catch (const std::exception& error) {
    ending.failure = std::current_exception();
    return ends(Outcome::failed, error.what());
  }
  const std::optional<FileStamp> out = job.out == "-" ? std::nullopt : stamp_of(job.out);
  if (!out) return std::nullopt;
  if (batch.newer) {
    const std::optional<FileStamp> in = stamp_of(job.in);
    if (in && in->modified <= out->modified) return ends(Outcome::skipped, "not newer");
    return std::nullopt;
  }
  switch (batch.if_exists) {
    case IfExists::skip: return ends(Outcome::skipped, "exists");
    case IfExists::fail: return ends(Outcome::failed, FileIsThere(job.out).what());
    case IfExists::overwrite: break;
  }
  return std::nullopt;
}

/// The earlier run's, where there is one.
std::optional<JournalContents> journal_of(const Batch& batch) {
  const std::string path = journal_to_resume(batch.folder(), batch.shard);
  if (path.empty()) return std::nullopt;
  return read_journal(path);
}

/// Earlier results that lie in a folder of inputs, where they would be taken for some.
std::set<std::string> results_among_inputs(const Selection& selection) {
  std::error_code error;
  const bool are_mixed = std::ranges::any_of(selection.inputs, [&](const std::string& input) {
    return fs::is_directory(input, error) && lies_in(selection.out, input);
  });
  return are_mixed ? renamed_results_in(selection.out) : std::set<std::string>{};
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw IoError("cannot make the folder " + quoted_name(folder) + ": " + error.message());
}

/// Makes the folders of a result. Throws IoError where the result would lie elsewhere, or where
/// what lies there is not to be replaced.
void make_place(const std::string& result, const std::string& out) {
  const std::string folder = folder_of(result);
  const auto check = [&](const std::string& path) {
    if (!lies_in(path, out))
      throw IoError("cannot write " + quoted_name(result) + ": a link leads out of " +
                    quoted_name(out) + "; name another folder");
  };
  check(folder);
  make_folder(folder);
  std::error_code error;
  if (fs::is_symlink(result, error)) check(resolve_output(result).path);
  check_writable(result);
  // A pipe may have no reader.
  const fs::file_status there = fs::status(result, error);
  if (fs::exists(there) && !fs::is_regular_file(there))
    throw IoError("cannot write " + quoted_name(result) +
                  ": it is no regular file; remove it, or name another folder");
}

/// Filters the pictures of a plan, and keeps the journal and the totals.
class Run : public JobEvents {
 public:
  using Listener = std::function<void(const PictureOutcome&)>;

  Run(const Batch& batch, const BatchPlan& plan, Crew& crew, const Listener& listener)
      : batch_(batch), plan_(plan), crew_(crew), listener_(listener), out_(batch.folder()) {
    has_ended_.resize(plan.to_filter.size());
    if (!batch_.selection.is_one) make_folder(out_);
    // One picture has a journal only where it goes on with that of a folder.
    if (!batch_.selection.is_one || batch_.resume) begin_journal();
    for (const Ending& ending : plan_.settled) {
      const Job job = plan_.list.jobs[ending.number];
      const PictureOutcome outcome{ending, &job};
      note(outcome);
      count(outcome);
    }
  }

  /// Call it when all jobs have ended that were begun.
  RunTotals end(std::vector<std::string> device_failures) {
    totals_.device_failures = std::move(device_failures);
    for (std::size_t i = 0; i < has_ended_.size(); ++i) {
      if (has_ended_[i]) continue;
      const Job dropped = plan_.list.jobs[plan_.to_filter[i]];
      count({{i, Outcome::not_begun,
              batch_.is_stopped() ? "a signal stopped the run" : "another picture failed"},
             &dropped});
    }
    // One picture does not end the run of its folder.
    if (journal_ && totals_.not_begun == 0 &&
        (!batch_.selection.is_one || journal_->is_new() || journal_->before().has_ended))
      journal_->end();
    totals_.all_ms = ms_since(start_);
    return totals_;
  }

 private:
  void begin_journal() {
    journal_.emplace(out_, batch_.shard, settings_of(batch_), batch_.resume);
    const JournalContents& before = journal_->before();
    decoders_ = before.decoders;
    if (!decoders_.empty()) crew_.keep_to(decoders_);

    const Jobs& jobs = plan_.list.jobs;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto found = before.pictures.find(jobs.name(i));
      if (found == before.pictures.end() || !found->second.is_planned)
        names.push_back(jobs.name(i));
      constexpr std::size_t kAtOnce = 1024;
      if (names.size() < kAtOnce && i + 1 < jobs.size()) continue;
      journal_->plan(names);
      names.clear();
    }
    if (batch_.selection.is_one) return;
    // The same command finds these inputs no more; results that they have stay, and what lies in a
    // folder that cannot be read may be there again.
    const auto may_be_there = [&](const std::string& name) {
      return std::ranges::any_of(plan_.list.unread, [&](const UnreadFolder& folder) {
        return name.starts_with(folder.name);
      });
    };
    for (const auto& [name, record] : before.pictures) {
      if (jobs.contains(name)) continue;
      const std::optional<DoneEntry> entry = before.result_of(name);
      // One that was not planned is a folder or an input that was no job. Those that still are none
      // are told of again.
      if (record.is_planned
              ? !may_be_there(name) && !(entry && is_there(out_, entry->result, entry->out))
              : record.state == RecordState::failed)
        journal_->gone(name);
    }
    for (const UnreadFolder& folder : plan_.list.unread)
      journal_->failed(folder.name.empty() ? "./" : folder.name, folder.why);
    for (const RefusedInput& input : plan_.list.refused) journal_->failed(input.name, input.why);
  }

  DoneEntry entry_of(const PictureOutcome& picture) const {
    const Job& job = *picture.job;
    return {job.name, fs::path(job.out).lexically_relative(out_).string(), picture.in, picture.out};
  }

  /// Says in the journal why a picture is not filtered. A result that stays counts as done where an
  /// earlier run of the same settings has made it. Any other may be of other options.
  void note(const PictureOutcome& picture) {
    if (!journal_) return;
    const Job& job = *picture.job;
    if (picture.outcome == Outcome::failed) return journal_->failed(job.name, picture.reason);
    const JournalContents& before = journal_->before();
    if (const auto entry = before.done(job.name); entry && is_done(*entry, job)) {
      if (journal_->is_new()) journal_->done(*entry);
      return;
    }
    DoneEntry kept = entry_of(picture);
    kept.in = stamp_of(job.in).value_or(FileStamp{});
    kept.out = stamp_of(job.out).value_or(FileStamp{});
    journal_->kept(kept);
  }

  void count(const PictureOutcome& outcome) {
    totals_.filtered += outcome.outcome == Outcome::filtered;
    totals_.skipped += outcome.outcome == Outcome::skipped;
    totals_.failed += outcome.outcome == Outcome::failed;
    totals_.not_begun += outcome.outcome == Outcome::not_begun;
    listener_(outcome);
  }

  void before(PictureOutcome& picture) override {
    const Job& job = *picture.job;
    const bool is_one = batch_.selection.is_one;
    if (!is_one) make_place(job.out, out_);
    // An input that changes while it is read is filtered again by the next run.
    if (job.in != "-") picture.in = stamp_of(job.in).value_or(FileStamp{});
    if (is_one) return;
    const std::lock_guard lock(mutex_);
    if (places_.insert(folder_of(job.out)).second) remove_temporaries_left(folder_of(job.out));
  }

  void before_commit(PictureOutcome& picture, const FileStamp& stamp) override {
    const std::lock_guard lock(mutex_);
    picture.out = stamp;
    if (!journal_) return;
    // No result of GPUs' decoders gets its name before the journal has their kind.
    if (decoders_.empty() && !(decoders_ = crew_.decoders()).empty()) journal_->decoders(decoders_);
    journal_->done(entry_of(picture));
  }

  void after(const PictureOutcome& picture) override {
    if (picture.outcome == Outcome::filtered) {
      const FileReport& report = picture.report;
      totals_.bytes_read += picture.in.size;
      totals_.bytes_written += picture.out.size;
      totals_.through_gpu += report.codec == "gpu";
      totals_.pixels += report.pixels;
      totals_.ms += report.ms;
      totals_.device_ms += report.device_ms;
    } else {
      note(picture);
    }
    has_ended_[picture.number] = true;
    count(picture);
  }

  const Batch& batch_;
  const BatchPlan& plan_;
  Crew& crew_;
  const Listener& listener_;
  const std::string out_;
  const Clock::time_point start_ = Clock::now();
  std::vector<bool> has_ended_;  ///< by job that is filtered
  std::optional<Journal> journal_;
  RunTotals totals_;

  std::mutex mutex_;  // guards what follows
  std::string decoders_;
  std::set<std::string> places_;  ///< folders that were looked through
};

}  // namespace

BatchPlan plan_batch(const Batch& batch) {
  BatchPlan plan;
  plan.list = list_jobs(batch.selection, results_among_inputs(batch.selection), batch.read);
  Jobs& jobs = plan.list.jobs;
  plan.of_all_shards = jobs.size();
  if (batch.shard.count > 1) jobs.keep(batch.shard);
  std::optional<JournalContents> before;
  if (batch.resume) before = journal_of(batch);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (auto ending = settled(jobs[i], batch, before ? &*before : nullptr)) {
      ending->number = i;
      plan.settled.push_back(std::move(*ending));
    } else {
      plan.to_filter.push_back(i);
    }
  }
  return plan;
}

void check_resumes(const Batch& batch) {
  const std::string path = journal_to_resume(batch.folder(), batch.shard);
  if (batch.resume && !path.empty())
    read_journal_to_resume(batch.folder(), batch.shard, path, settings_of(batch));
}

std::string settings_of_journal(const Batch& batch) {
  const std::optional<JournalContents> journal = journal_of(batch);
  return journal ? journal->settings : "";
}

RunTotals run(const Batch& batch, const BatchPlan& plan, Crew& crew,
              const std::function<void(const PictureOutcome&)>& on_outcome) {
  Run events(batch, plan, crew, on_outcome);
  return events.end(filter_jobs(plan.jobs_to_filter(), batch, crew, events));
}

}  // namespace convfilt
