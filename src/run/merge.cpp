#include "src/run/merge.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_map>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/run/journal.hpp"

namespace convfilt {

namespace fs = std::filesystem;

namespace {

/// In order, as folders have their files.
std::vector<const std::string*> names_in(const JournalContents& contents) {
  std::vector<const std::string*> names;
  names.reserve(contents.pictures.size());
  for (const auto& [name, record] : contents.pictures) names.push_back(&name);
  std::ranges::sort(names, {}, [](const std::string* name) -> const std::string& { return *name; });
  return names;
}

}  // namespace

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
      if (first.shard.count != contents.shard.count ||
          hash_in(first.settings) != hash_in(contents.settings))
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
  // Each name is that of one shard, so only names that are not their journal's are looked for in
  // the others.
  const auto is_done_before = [&](int shard, const std::string& name) {
    return std::ranges::any_of(journals, [&](const auto& other) {
      return other.first != shard && (other.first < shard || other.second.shard.takes(name)) &&
             other.second.done(name);
    });
  };
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
    for (const std::string* name : names_in(contents)) {
      const Record& record = contents.pictures.at(*name);
      if (record.state == RecordState::done && !contents.shard.takes(*name) &&
          is_done_before(i, *name))
        report.twice.push_back(*name);
      if (record.state == RecordState::failed) report.failed.emplace_back(*name, record.text);
      if (!record.is_planned || record.state == RecordState::failed) continue;
      const std::optional<DoneEntry> entry = contents.result_of(*name);
      if (!entry || !is_there(folder, entry->result, entry->out))
        report.missing.push_back(*name);
      else if (record.state == RecordState::kept)
        report.kept.push_back(*name);
      else
        ++report.done;
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
    if (!decoders.empty()) joined.decoders(decoders);
    std::unordered_map<std::string, FileStamp> renamed;
    for (auto& [index, contents] : journals) renamed.merge(contents.renamed);
    for (auto& [index, contents] : journals) {
      for (const std::string* name : names_in(contents)) {
        const Record& record = contents.pictures.at(*name);
        if (record.is_planned) joined.plan({*name});
        const std::optional<DoneEntry> entry = contents.result_of(*name);
        if (!entry) continue;
        record.state == RecordState::done ? joined.done(*entry) : joined.kept(*entry);
        if (record.state == RecordState::done) renamed.erase(entry->result);
      }
      contents = {};  // the joined journal will be read to its end
    }
    for (const auto& [result, stamp] : renamed) joined.renamed(result, stamp);
    joined.end();
  }
  std::error_code error;
  for (const fs::path& path : paths) fs::remove(path, error);
  return report;
}

}  // namespace convfilt
