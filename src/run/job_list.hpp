/// Which pictures a command filters, and where each result goes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/picture/codec.hpp"
#include "src/run/shard.hpp"

namespace convfilt {

/// Inputs and outputs as the command line names them.
struct Selection {
  std::vector<std::string> inputs;   ///< files and folders
  std::string files_from;            ///< a list of files, a line each; "-" = standard input
  bool nul = false;                  ///< names in that list end with NUL, not with a newline
  std::string out;                   ///< the folder for the results, or the only result
  bool is_one = false;               ///< one input, whose result has any name; "-" is a stream
  bool recursive = false;            ///< folders within folders, too
  bool follow_links = false;         ///< to folders, and to files beyond the folder that is read
  std::vector<std::string> globs;    ///< names that are taken; empty = those of known formats
  std::string name = "{stem}{ext}";  ///< of a result: {stem} and {ext} are those of its input;
                                     ///< with {page} each of its pages has a result
  std::string format;                ///< gives results its extension; empty = the input's
  bool in_place = false;             ///< results may replace their inputs
};

struct Job {
  std::string in;    ///< a path
  std::string name;  ///< the input below the folder that was read, which the results mirror
  std::string out;   ///< a path in Selection::out
  std::optional<int> page{};  ///< of the input, where each page has its own result
};

/// Many jobs. It keeps their names alone, with 40 bytes beside each, and makes a job when it is
/// asked for one.
class Jobs {
 public:
  explicit Jobs(Selection selection = {}) : selection_(std::move(selection)) {}

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const std::string& name(std::size_t number) const { return entries_[number].name; }
  Job operator[](std::size_t number) const;
  bool contains(const std::string& name) const;  ///< after sort()

  void add(const std::string& in, const std::string& name);
  /// Makes a job of each page of a file, or of the one that `read` names. If a file cannot be
  /// opened, reading its first page will say so.
  void split_into_pages(const ReadOptions& read);
  void sort();
  void keep(const Shard& shard);

 private:
  struct Entry {
    std::string name;
    std::uint32_t beginning : 31, ends_with_name : 1;  ///< of its path
    int page = -1;                                     ///< none
  };

  Selection selection_;
  std::vector<Entry> entries_;
  std::vector<std::string> beginnings_;  ///< of paths
};

/// Jobs, each made when its turn comes.
struct JobSource {
  JobSource(std::size_t number, std::function<Job(std::size_t)> make)
      : count(number), job(std::move(make)) {}
  JobSource(std::vector<Job> jobs)
      : count(jobs.size()), job([made = std::move(jobs)](std::size_t i) { return made[i]; }) {}

  std::size_t count;
  std::function<Job(std::size_t)> job;
};

/// An input that is neither a regular file nor a folder.
struct RefusedInput {
  std::string in;    ///< a path
  std::string name;  ///< as Job::name
  std::string why;   ///< a message that names it
};

struct UnreadFolder {
  std::string name;  ///< begins the names of the jobs that would be in it: empty, or ends with '/'
  std::string why;   ///< a message that names it
};

struct JobList {
  Jobs jobs;                         ///< in the order of their names
  std::int64_t other_files = 0;      ///< in folders, passed over as no pictures by their names
  std::vector<std::string> passed;   ///< pictures in folders, passed over as of no format by their
                                     ///< names; in order
  std::int64_t links_passed = 0;     ///< that lead out of their folder, or to a folder
  std::int64_t results_passed = 0;   ///< in folders, of earlier runs
  bool has_passed_out = false;       ///< whether Selection::out lies in a folder that was read
  std::vector<UnreadFolder> unread;  ///< folders that cannot be read
  std::vector<RefusedInput> refused;
};

/// Lists the jobs; touches nothing. Hidden files in folders are passed over, as are `results`,
/// those of earlier runs, by their names below Selection::out. Throws UsageError where two results
/// would be one file, or a result would replace an input or a journal; IoError where a list cannot
/// be read. Only where Selection::name has {page} are files opened, as `read` says.
JobList list_jobs(const Selection& selection, const std::set<std::string>& results = {},
                  const ReadOptions& read = {});

/// Whether `path`, or the nearest folder of it that is there, lies in `folder` when links are
/// followed.
bool lies_in(const std::string& path, const std::string& folder);

}  // namespace convfilt
