#include "src/run/folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/bytes.hpp"
#include "src/picture/io.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

std::string below(const std::string& path, const std::string& folder) {
  return fs::path(path).lexically_relative(folder).string();
}

/// Whether the journal's entry holds for the files that are there.
bool is_done(const DoneEntry& entry, const Job& job) {
  const std::optional<FileStamp> out = stamp_of(job.out);
  return out == entry.out && (stamp_of(job.in) == entry.in || same_file(job.in, job.out));
}

/// Why there is nothing to do for a picture; nothing where there is.
std::optional<PictureOutcome> settled(const Job& job, const FolderOptions& options,
                                      const JournalContents* before) {
  PictureOutcome outcome;
  outcome.job = &job;
  outcome.outcome = Outcome::skipped;
  if (before) {
    const auto entry = before->done.find(job.name);
    if (entry != before->done.end() && is_done(entry->second, job)) {
      outcome.reason = "done before";
      return outcome;
    }
  }
  try {
    // An input that is not there is what is to be told, not that its name has no format.
    if (job.in != "-" && ::access(job.in.c_str(), F_OK) != 0) open_source(job.in);
    check_format(job.out, options.schedule.write);
  } catch (const std::exception& error) {
    outcome.outcome = Outcome::failed;
    outcome.reason = error.what();
    return outcome;
  }
  const std::optional<FileStamp> out = job.out == "-" ? std::nullopt : stamp_of(job.out);
  if (!out) return std::nullopt;
  if (options.newer) {
    const std::optional<FileStamp> in = stamp_of(job.in);
    if (in && in->modified <= out->modified) {
      outcome.reason = "not newer";
      return outcome;
    }
    return std::nullopt;
  }
  if (options.if_exists == IfExists::overwrite) return std::nullopt;
  outcome.reason = "exists";
  if (options.if_exists == IfExists::fail) {
    outcome.outcome = Outcome::failed;
    outcome.reason = FileIsThere(job.out).what();
  }
  return outcome;
}

/// The earlier run's, where there is one.
std::optional<JournalContents> journal_of(const FolderOptions& options) {
  const std::string path = journal_to_resume(options.selection.out, options.shard);
  if (path.empty()) return std::nullopt;
  return read_journal(path);
}

/// Parts what there is nothing to do for from the rest.
void settle(FolderPlan& plan, const FolderOptions& options) {
  std::optional<JournalContents> before;
  if (options.resume) before = journal_of(options);
  for (std::size_t i = 0; i < plan.list.jobs.size(); ++i) {
    if (auto outcome = settled(plan.list.jobs[i], options, before ? &*before : nullptr))
      plan.settled.push_back(std::move(*outcome));
    else
      plan.to_filter.push_back(i);
  }
}

/// Earlier results that lie in a folder of inputs, where they would be taken for some.
std::set<std::string> results_among_inputs(const Selection& selection) {
  std::error_code error;
  const bool are_mixed = std::ranges::any_of(selection.inputs, [&](const std::string& input) {
    return fs::is_directory(input, error) && lies_in(selection.out, input);
  });
  return are_mixed ? renamed_results_in(selection.out) : std::set<std::string>{};
}

/// Makes the folders of a result. Throws IoError where the result would lie elsewhere.
void make_place(const std::string& result, const std::string& out) {
  const std::string folder = folder_of(result);
  const auto check = [&](const std::string& path) {
    if (!lies_in(path, out))
      throw IoError("cannot write " + quoted_name(result) + ": a link leads out of " +
                    quoted_name(out) + "; name another folder");
  };
  check(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw IoError("cannot make the folder " + quoted_name(folder) + ": " + error.message());
  if (fs::is_symlink(result, error)) check(resolve_output(result).path);
}

}  // namespace

FolderPlan plan_folder(const FolderOptions& options) {
  FolderPlan plan;
  plan.list = list_jobs(options.selection, results_among_inputs(options.selection));
  plan.of_all_shards = plan.list.jobs.size();
  if (options.shard.count > 1)
    std::erase_if(plan.list.jobs, [&](const Job& job) { return !options.shard.takes(job.name); });
  settle(plan, options);
  return plan;
}

FolderPlan plan_picture(const FolderOptions& options, const Job& job) {
  FolderPlan plan;
  plan.list.jobs = {job};
  plan.of_all_shards = 1;
  settle(plan, options);
  return plan;
}

void check_resumes(const FolderOptions& options) {
  const std::string path = journal_to_resume(options.selection.out, options.shard);
  if (options.resume && !path.empty())
    read_journal_to_resume(options.selection.out, options.shard, path, options.settings);
}

std::string settings_of_journal(const FolderOptions& options) {
  const std::optional<JournalContents> journal = journal_of(options);
  return journal ? journal->settings : "";
}

FolderTotals filter_folder(const FolderOptions& options, const FolderPlan& plan,
                           const MakeLane& make_lane,
                           const std::function<void(const PictureOutcome&)>& on_outcome) {
  const auto start = std::chrono::steady_clock::now();
  const std::string& out = options.selection.out;
  std::error_code error;
  fs::create_directories(out, error);
  if (error) throw IoError("cannot make the folder " + quoted_name(out) + ": " + error.message());
  Journal journal(out, options.shard, options.settings, options.resume);
  std::string decoders = journal.before().decoders;
  if (!decoders.empty() && options.decoders.keep_to) options.decoders.keep_to(decoders);

  FolderTotals totals;
  const std::set<std::string> planned(journal.before().planned.begin(),
                                      journal.before().planned.end());
  std::vector<std::string> names;
  for (const Job& job : plan.list.jobs)
    if (!planned.contains(job.name)) names.push_back(job.name);
  journal.plan(names);
  // The same command finds these inputs no more; results that they have stay, and what lies in a
  // folder that cannot be read may be there again.
  std::set<std::string> listed;
  for (const Job& job : plan.list.jobs) listed.insert(job.name);
  const auto may_be_there = [&](const std::string& name) {
    return std::ranges::any_of(plan.list.unread, [&](const UnreadFolder& folder) {
      return name.starts_with(folder.name);
    });
  };
  for (const std::string& name : planned) {
    const DoneEntry* entry = journal.before().result_of(name);
    if (!listed.contains(name) && !may_be_there(name) &&
        !(entry && is_there(out, entry->result, entry->out)))
      journal.gone(name);
  }
  // Folders and inputs that were no jobs; those that still are none are told of again.
  for (const auto& [name, why] : journal.before().failed)
    if (!listed.contains(name) && !planned.contains(name)) journal.gone(name);
  for (const UnreadFolder& folder : plan.list.unread)
    journal.failed(folder.name.empty() ? "./" : folder.name, folder.why);
  for (const RefusedInput& input : plan.list.refused) journal.failed(input.name, input.why);

  const auto count = [&](const PictureOutcome& outcome) {
    totals.filtered += outcome.outcome == Outcome::filtered;
    totals.skipped += outcome.outcome == Outcome::skipped;
    totals.failed += outcome.outcome == Outcome::failed;
    totals.not_begun += outcome.outcome == Outcome::not_begun;
    on_outcome(outcome);
  };
  // A result that is there and stays is this command's own where an earlier run of the same
  // settings has made it. Any other may be of other options, so that it is not done.
  const auto note_result_of = [&](const Job& job) {
    const JournalContents& before = journal.before();
    const auto entry = before.done.find(job.name);
    if (entry != before.done.end() && is_done(entry->second, job)) {
      if (journal.is_new()) journal.done(entry->second);
      return;
    }
    journal.kept({job.name, below(job.out, out), stamp_of(job.in).value_or(FileStamp{}),
                  stamp_of(job.out).value_or(FileStamp{})});
  };
  for (const PictureOutcome& outcome : plan.settled) {
    const Job& job = *outcome.job;
    if (outcome.outcome == Outcome::failed)
      journal.failed(job.name, outcome.reason);
    else
      note_result_of(job);
    count(outcome);
  }

  std::vector<Job> jobs;
  for (const std::size_t i : plan.to_filter) jobs.push_back(plan.list.jobs[i]);
  // The stamps of inputs are those before they are read, so that one that changes meanwhile is
  // filtered again.
  std::mutex mutex;
  std::set<std::string> places;
  std::map<const Job*, DoneEntry> entries;
  std::set<const Job*> ended;
  JobEvents events;
  events.before = [&](const Job& job) {
    make_place(job.out, out);
    const DoneEntry entry{
        job.name, below(job.out, out), stamp_of(job.in).value_or(FileStamp{}), {}};
    const std::lock_guard lock(mutex);
    entries[&job] = entry;
    if (places.insert(folder_of(job.out)).second) remove_temporaries_left(folder_of(job.out));
  };
  events.before_commit = [&](const Job& job, const FileStamp& stamp) {
    const std::lock_guard lock(mutex);
    // No result of theirs gets its name before the journal says what they are.
    if (decoders.empty() && options.decoders.kind) {
      decoders = options.decoders.kind();
      if (!decoders.empty()) journal.decoders(decoders);
    }
    DoneEntry& entry = entries[&job];
    entry.out = stamp;
    journal.done(entry);
  };
  events.after = [&](const JobResult& result) {
    const Job& job = *result.job;
    PictureOutcome outcome;
    outcome.job = &job;
    DoneEntry entry;
    {
      const std::lock_guard lock(mutex);
      entry = entries[&job];
      entries.erase(&job);
    }
    if (result.is_there && options.if_exists == IfExists::skip) {
      outcome.outcome = Outcome::skipped;
      outcome.reason = "exists";
      note_result_of(job);
    } else if (!result.failure.empty()) {
      outcome.outcome = Outcome::failed;
      outcome.reason = result.failure;
      journal.failed(job.name, result.failure);
    } else {
      const Header& header = result.report.header;
      outcome.report = result.report;
      outcome.bytes_read = entry.in.size;
      outcome.bytes_written = entry.out.size;
      totals.bytes_read += entry.in.size;
      totals.bytes_written += entry.out.size;
      totals.through_gpu += result.report.codec == "gpu";
      totals.pixels += std::int64_t{header.width} * header.height;
      totals.read_ms += result.report.read_ms;
      totals.filter_ms += result.report.filter_ms;
      totals.write_ms += result.report.write_ms;
      totals.decode_ms += result.report.device_ms.decode;
      totals.device_filter_ms += result.report.device_ms.filter;
      totals.encode_ms += result.report.device_ms.encode;
    }
    ended.insert(&job);
    count(outcome);
  };
  ScheduleOptions schedule = options.schedule;
  schedule.replaces = options.replaces();
  totals.device_failures = filter_jobs(jobs, schedule, make_lane, events);
  const bool is_stopped = schedule.stop && schedule.stop->load();
  for (const Job& job : jobs) {
    if (ended.contains(&job)) continue;
    PictureOutcome outcome;
    outcome.job = &job;
    outcome.outcome = Outcome::not_begun;
    outcome.reason = is_stopped ? "a signal stopped the run" : "another picture failed";
    count(outcome);
  }
  if (totals.not_begun == 0) journal.end();
  const auto spent = std::chrono::steady_clock::now() - start;
  totals.all_ms = std::chrono::duration<double, std::milli>(spent).count();
  return totals;
}

MergeReport merge_journals(const std::string& folder) {
  std::map<int, JournalContents> journals;  // by the shard's index
  std::string decoders;
  std::vector<fs::path> paths;
  // A journal without a title only shows that the shard exists.
  const std::vector<Shard> shards = shards_in(folder);
  for (const Shard& shard : shards) {
    const std::string name = journal_name(shard);
    const fs::path path = fs::path(folder) / name;
    if (!is_begun(path.string())) continue;
    JournalContents contents = read_journal(path.string());
    if (shard != contents.shard)
      throw IoError("the journal " + quoted_name(path.string()) + " is that of shard " +
                    std::to_string(contents.shard.index) + "/" +
                    std::to_string(contents.shard.count) + "; give it its own name again");
    if (!journals.empty()) {
      const JournalContents& first = journals.begin()->second;
      if (first.shard.count != contents.shard.count || first.settings != contents.settings)
        throw IoError("the journals in " + quoted_name(folder) + " are those of several runs: " +
                      quoted_name(journal_name(first.shard)) + " and " + quoted_name(name) +
                      " differ in their number of shards or their options; move one run's away");
    }
    if (!decoders.empty() && !contents.decoders.empty() && decoders != contents.decoders)
      throw IoError("the journals in " + quoted_name(folder) +
                    " are those of GPUs with different decoders, " + decoders + " and " +
                    contents.decoders +
                    ", which round differently; filter one kind's shards again, or all by "
                    "--codec=cpu");
    if (!contents.decoders.empty()) decoders = contents.decoders;
    paths.push_back(path);
    journals[contents.shard.index] = std::move(contents);
  }
  // Joined journals, and that of a run without shards, can be looked at again.
  const bool is_joined = shards.empty();
  const std::string joined_path = (fs::path(folder) / journal_name({})).string();
  if (is_joined && is_begun(joined_path)) journals[1] = read_journal(joined_path);
  if (is_joined && journals.empty())
    throw IoError("the folder " + quoted_name(folder) +
                  " has no journals; name the OUT of runs with --shard");

  MergeReport report;
  const int count = journals.empty() ? shards.front().count : journals.begin()->second.shard.count;
  std::set<std::string> done;
  std::vector<DoneEntry> entries, kept;
  std::set<std::string> results;
  std::map<std::string, FileStamp> renamed;
  std::vector<std::string> planned;
  for (int i = 1; i <= count; ++i) {
    const auto found = journals.find(i);
    if (found == journals.end()) {
      report.missing_shards.push_back({i, count});
      continue;
    }
    const JournalContents& contents = found->second;
    report.bad_lines += contents.bad_lines;
    if (!contents.has_ended) report.unfinished_shards.push_back({i, count});
    if (contents.has_changed) report.changed_shards.push_back({i, count});
    for (const auto& [name, entry] : contents.done) {
      if (!done.insert(name).second) report.twice.push_back(name);
      entries.push_back(entry);
      results.insert(entry.result);
    }
    renamed.insert(contents.renamed.begin(), contents.renamed.end());
    for (const auto& [name, entry] : contents.kept) kept.push_back(entry);
    for (const auto& [name, why] : contents.failed) report.failed.emplace_back(name, why);
    for (const std::string& name : std::set(contents.planned.begin(), contents.planned.end())) {
      const DoneEntry* entry = contents.result_of(name);
      if (entry && is_there(folder, entry->result, entry->out)) {
        if (contents.kept.contains(name))
          report.kept.push_back(name);
        else
          ++report.done;
      } else if (!contents.failed.contains(name))
        report.missing.push_back(name);
      planned.push_back(name);
    }
  }
  std::sort(report.missing.begin(), report.missing.end());
  std::sort(report.kept.begin(), report.kept.end());
  // Each shard has met the folders that could not be read.
  std::sort(report.failed.begin(), report.failed.end());
  report.failed.erase(std::unique(report.failed.begin(), report.failed.end()), report.failed.end());
  std::sort(report.twice.begin(), report.twice.end());
  if (!report.is_whole() || is_joined) return report;
  {
    Journal joined(folder, {}, journals.begin()->second.settings, false);
    joined.plan(planned);
    if (!decoders.empty()) joined.decoders(decoders);
    for (const DoneEntry& entry : entries) joined.done(entry);
    for (const DoneEntry& entry : kept) joined.kept(entry);
    for (const auto& [result, stamp] : renamed)
      if (!results.contains(result)) joined.renamed(result, stamp);
    joined.end();
  }
  std::error_code error;
  for (const fs::path& path : paths) fs::remove(path, error);
  return report;
}

}  // namespace convfilt
