#include "src/run/job_list.hpp"

#include <fnmatch.h>
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>
#include <system_error>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/splitmix.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/io.hpp"

namespace convfilt {
namespace {

namespace fs = std::filesystem;

/// In --name, the number of a page.
constexpr std::string_view kPage = "{page}";

/// A file by its place on a disk, whatever its names are.
using FileId = std::pair<dev_t, ino_t>;

bool file_id(const std::string& path, FileId* id) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return false;
  *id = {info.st_dev, info.st_ino};
  return true;
}

/// Whether a real path is that of a folder, or lies in it.
bool is_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

bool is_wanted(const std::string& name, const std::vector<std::string>& globs) {
  if (globs.empty()) return find_format(extension_of(name)) != nullptr;
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
  });
}

/// A pipe may never give an end, nor may a device, and nobody could resume what came from one. What
/// is not there is a job, since reading it says so.
void take_file(const std::string& path, const std::string& name, JobList& list) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const auto refuse = [&](const std::string& why) {
    list.refused.push_back({path, name, "cannot read " + quoted_name(path) + ": " + why});
  };
  if (fs::is_directory(status))
    refuse("it is a folder, where a list names files; name it before OUT");
  else if (fs::exists(status) && !fs::is_regular_file(status))
    refuse("it is a pipe or a device; filter it alone, into one file");
  else
    list.jobs.add(path, name);
}

/// Walks a folder that the command names.
class FolderWalk {
 public:
  FolderWalk(const Selection& selection, const std::set<std::string>& results,
             const std::string& root, JobList& list)
      : selection_(selection), results_(results), root_(root), list_(list) {
    std::error_code error;
    real_root_ = fs::canonical(root, error);
    real_out_ = fs::weakly_canonical(selection.out, error);
  }

  void run() { enter(root_, ""); }

 private:
  void enter(const fs::path& folder, const std::string& below) {
    FileId id;
    // A link can lead back to a folder that is being walked.
    std::error_code error;
    if (!file_id(folder.string(), &id))
      error.assign(errno, std::generic_category());
    else if (!open_.insert(id).second)
      return;
    fs::directory_iterator entries;
    if (!error) entries = fs::directory_iterator(folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error))
      take(*entries, below);
    if (error)
      list_.unread.push_back({below, "cannot read the folder " + quoted_name(folder.string()) +
                                         ": " + error.message() + "; pictures in it are left out"});
    open_.erase(id);
  }

  void take(const fs::directory_entry& entry, const std::string& below) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".")) return;
    std::error_code error;
    const bool is_link = entry.is_symlink(error);
    const bool is_folder = entry.is_directory(error);
    if (is_folder && !selection_.recursive) return;
    if (is_link && !selection_.follow_links && (is_folder || !stays_inside(entry.path()))) {
      ++list_.links_passed;
      return;
    }
    if (is_folder) {
      // Results of an earlier run are no inputs, where they lie in a folder that is read.
      if (fs::canonical(entry.path(), error) != real_out_)
        enter(entry.path(), below + name + "/");
      else
        list_.has_passed_out = true;
      return;
    }
    if (!is_wanted(name, selection_.globs)) {
      if (selection_.globs.empty() && is_other_pictures(extension_of(name)))
        list_.passed.push_back(entry.path().string());
      else
        ++list_.other_files;
    } else if (is_result(entry.path())) {
      ++list_.results_passed;
    } else {
      take_file(entry.path().string(), below + name, list_);
    }
  }

  bool is_result(const fs::path& file) const {
    if (results_.empty()) return false;
    std::error_code error;
    const fs::path place = fs::canonical(file.parent_path(), error) / file.filename();
    return !error && results_.contains(place.lexically_relative(real_out_).string());
  }

  bool stays_inside(const fs::path& link) const {
    std::error_code error;
    const fs::path target = fs::canonical(link, error);
    return error || is_below(target, real_root_);  // reading says if it leads nowhere
  }

  const Selection& selection_;
  const std::set<std::string>& results_;  ///< of earlier runs
  std::string root_;
  JobList& list_;
  fs::path real_root_, real_out_;
  std::set<FileId> open_;
};

/// Names in a list, which may begin with UTF-8's mark; blank lines count for nothing.
std::vector<std::string> names_in(const std::string& list, bool nul) {
  std::ifstream file;
  if (list != "-") file.open(list, std::ios::binary);
  std::istream& in = list == "-" ? std::cin : file;
  std::vector<std::string> names;
  std::string name;
  bool is_first = true;
  while (std::getline(in, name, nul ? '\0' : '\n')) {
    if (!nul && name.ends_with('\r')) name.pop_back();
    if (constexpr std::string_view kMark = "\xEF\xBB\xBF"; is_first && name.starts_with(kMark))
      name.erase(0, kMark.size());
    is_first = false;
    if (name.find('\0') != name.npos)
      throw UsageError("--files-from: a name in " + quoted_name(list) +
                       " holds a NUL; --null takes a list whose names end with NUL");
    if (!name.empty()) names.push_back(name);
  }
  std::error_code error;
  if (!in.eof() || (list != "-" && fs::is_directory(list, error)))
    throw IoError("--files-from: cannot read " + quoted_name(list) + "; check its name and mode");
  return names;
}

/// The name of a listed file below the results: its own folders stay, unless it lies elsewhere than
/// below the folder that the command is run in.
std::string name_of_listed(const std::string& path) {
  std::error_code error;
  fs::path normal = fs::path(path).lexically_normal();
  // Absolute paths below this folder, as `find "$PWD"` prints them, keep their place.
  if (normal.is_absolute())
    if (const fs::path here = normal.lexically_relative(fs::current_path(error)); !error)
      normal = here;
  return normal.empty() || *normal.begin() == ".." ? fs::path(path).filename().string()
                                                   : normal.string();
}

std::string result_of(const fs::path& name, std::optional<int> page, const Selection& selection) {
  if (selection.is_one) return selection.out;
  std::string extension = name.extension().string();
  if (!selection.format.empty())
    extension = (selection.format.starts_with('.') ? "" : ".") + selection.format;
  // A stem may hold what looks like {ext}, so the template is cut before anything is put in.
  std::string result;
  const std::string& pattern = selection.name;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern.compare(at, 6, "{stem}") == 0) {
      result += name.stem().string();
      at += 6;
    } else if (pattern.compare(at, 5, "{ext}") == 0) {
      result += extension;
      at += 5;
    } else if (pattern.compare(at, kPage.size(), kPage) == 0) {
      result += std::to_string(page.value_or(0));
      at += kPage.size();
    } else {
      result += pattern[at++];
    }
  }
  return (fs::path(selection.out) / name.parent_path() / result).string();
}

void check_name(const std::string& pattern) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("--name: " + in_quotes(pattern) + why);
  };
  const std::string rest =
      replaced(replaced(replaced(pattern, "{stem}", ""), "{ext}", ""), kPage, "");
  if (rest.find_first_of("{}") != rest.npos)
    refuse(" may hold {stem}, {ext} and {page}, such as {stem}_blur{ext}");
  if (pattern.find("{stem}") == pattern.npos)
    refuse(" gives all results one name; put {stem} into it");
  if (pattern.find('/') != pattern.npos)
    refuse(" has a '/'; results mirror the folders of their inputs");
}

/// Whether journals and temporary files have such names; some file systems take capitals for small
/// letters.
bool is_own_name(const fs::path& name) {
  constexpr std::string_view kOwn = ".convfilt-";
  return ::strncasecmp(name.c_str(), kOwn.data(), kOwn.size()) == 0;
}

/// Where results will lie, links followed: some are links that are there already, and lead to each
/// other. Mostly the next one lies in the folder of the last.
class Places {
 public:
  std::string of(const std::string& result) try {
    std::error_code error;
    if (fs::is_symlink(result, error))
      return fs::weakly_canonical(fs::absolute(resolve_output(result).path), error).string();
    if (const std::string folder = folder_of(result); folder != folder_) {
      folder_ = folder;
      real_ = fs::weakly_canonical(fs::absolute(folder), error);
      if (error) real_ = folder;
    }
    return (real_ / fs::path(result).filename()).string();
  } catch (const IoError&) {
    return result;  // writing it will say what is wrong
  }

 private:
  std::string folder_;
  fs::path real_;
};

/// Throws UsageError where two results are one file, or a result has a name that journals have. A
/// list may have many millions of names, so it keeps just a hash of each place.
void check_places(const Jobs& jobs, const Selection& selection) {
  Places places;
  std::vector<std::pair<std::uint64_t, std::size_t>> hashes;
  hashes.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job job = jobs[i];
    const std::string place = places.of(job.out);
    const fs::path below = fs::path(job.out).lexically_relative(selection.out);
    if (std::ranges::any_of(below, is_own_name) || is_own_name(fs::path(place).filename()))
      throw UsageError("the result of " + quoted_name(job.in) + " would be " +
                       quoted_name(job.out) +
                       ", and names that begin with .convfilt- are those of journals; --name gives "
                       "results other names");
    hashes.emplace_back(stable_hash(place), i);
  }
  std::ranges::sort(hashes);
  std::size_t first = jobs.size(), other = 0;  // the first job whose place another one has
  for (std::size_t k = 1; k < hashes.size(); ++k)
    if (hashes[k - 1].first == hashes[k].first && hashes[k].second < first &&
        places.of(jobs[hashes[k - 1].second].out) == places.of(jobs[hashes[k].second].out))
      first = hashes[k].second, other = hashes[k - 1].second;
  if (first < jobs.size())
    throw UsageError(quoted_name(jobs[other].in) + " and " + quoted_name(jobs[first].in) +
                     " would both become " + quoted_name(jobs[first].out) +
                     "; filter them into folders of their own");
}

/// Throws UsageError where a result is the input of a job.
void check_inputs_stay(const Jobs& jobs, const Selection& selection) {
  std::vector<std::pair<FileId, std::size_t>> results;  // that are there
  FileId id;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (file_id(jobs[i].out, &id)) results.emplace_back(id, i);
  std::ranges::sort(results);
  for (std::size_t i = 0; i < jobs.size() && !results.empty(); ++i) {
    if (!file_id(jobs[i].in, &id)) continue;
    for (auto result = std::ranges::lower_bound(results, std::pair(id, std::size_t{0}));
         result != results.end() && result->first == id; ++result) {
      const bool is_own = result->second == i;
      if (selection.in_place && is_own) continue;
      throw UsageError(quoted_name(jobs[result->second].out) + " would replace the input " +
                       quoted_name(jobs[i].in) +
                       (is_own ? "; --in-place allows it, --name gives results names of their own"
                               : ", which is another picture's; name another OUT"));
    }
  }
}

}  // namespace

Job Jobs::operator[](std::size_t number) const {
  const Entry& entry = entries_[number];
  std::optional<int> page;
  std::string name = entry.name;
  if (entry.page >= 0) {
    page = entry.page;
    name.resize(name.rfind('#'));
  }
  const std::string& beginning = beginnings_[entry.beginning];
  return {entry.ends_with_name ? beginning + name : beginning, entry.name,
          result_of(name, page, selection_), page};
}

bool Jobs::contains(const std::string& name) const {
  return std::ranges::binary_search(entries_, name, {}, &Entry::name);
}

void Jobs::add(const std::string& in, const std::string& name) {
  const bool ends_with_name = in.ends_with(name);
  const std::string beginning = ends_with_name ? in.substr(0, in.size() - name.size()) : in;
  if (beginnings_.empty() || beginnings_.back() != beginning) beginnings_.push_back(beginning);
  entries_.push_back({name, std::uint32_t(beginnings_.size() - 1), ends_with_name});
}

void Jobs::split_into_pages(const ReadOptions& read) {
  std::vector<Entry> pages;
  for (std::size_t i = 0; i < size(); ++i) {
    int first = read.page.value_or(0), end = first + 1;
    try {
      if (!read.page) end = PictureReader((*this)[i].in, read).header().pages;
    } catch (const std::exception&) {
    }
    for (int page = first; page < end; ++page) {
      pages.push_back(entries_[i]);
      pages.back().name += "#" + std::to_string(page);
      pages.back().page = page;
    }
  }
  entries_ = std::move(pages);
}

void Jobs::sort() {
  std::ranges::sort(entries_, {}, &Entry::name);
}

void Jobs::keep(const Shard& shard) {
  std::erase_if(entries_, [&](const Entry& entry) { return !shard.takes(entry.name); });
  entries_.shrink_to_fit();
}

bool lies_in(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(path), error);
  if (error) return false;
  const fs::path real_folder = fs::weakly_canonical(fs::absolute(folder), error);
  return !error && is_below(real, real_folder);
}

JobList list_jobs(const Selection& selection, const std::set<std::string>& results,
                  const ReadOptions& read) {
  JobList list;
  list.jobs = Jobs(selection);
  if (selection.is_one) {
    const std::string& in = selection.inputs.front();
    list.jobs.add(in, fs::path(in).filename().string());
    return list;
  }
  check_name(selection.name);
  for (const std::string& input : selection.inputs) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      FolderWalk(selection, results, input, list).run();
      continue;
    }
    // A folder that is not there may end with a slash.
    const fs::path path = input.ends_with('/') ? fs::path(input).parent_path() : fs::path(input);
    take_file(input, path.filename().string(), list);
  }
  if (!selection.files_from.empty())
    for (const std::string& path : names_in(selection.files_from, selection.nul))
      take_file(path, name_of_listed(path), list);
  if (selection.name.find(kPage) != selection.name.npos) list.jobs.split_into_pages(read);
  list.jobs.sort();
  std::ranges::sort(list.passed);
  check_places(list.jobs, selection);
  check_inputs_stay(list.jobs, selection);
  return list;
}

}  // namespace convfilt
