#include "src/batch/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/stable_hash.hpp"

namespace convfilt {
namespace {

constexpr std::string_view kTitle = "convfilt-journal-1";

/// Fields are parted by blanks and lines by newlines, so names with these, and bytes beyond ASCII's
/// printable ones, are escaped.
std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c > ' ' && c < 0x7f && c != '%') {
      line += c;
      continue;
    }
    char code[4];
    std::snprintf(code, sizeof code, "%%%02x", static_cast<unsigned char>(c));
    line += code;
  }
  return line.empty() ? "%" : line;
}

std::string unescaped(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size(); ++at) {
    unsigned code = 0;
    if (line[at] != '%') {
      text += line[at];
    } else if (at + 2 < line.size()) {
      std::from_chars(line.data() + at + 1, line.data() + at + 3, code, 16);
      text += char(code);
      at += 2;
    }
  }
  return text;
}

std::string hex(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string with_hash(const std::string& text) {
  return text + " " + hex(stable_hash(text)) + "\n";
}

/// The fields of a line whose hash is right; else none.
std::vector<std::string> fields_of(std::string_view line) {
  const std::size_t end = line.rfind(' ');
  if (end == line.npos || line.substr(end + 1) != hex(stable_hash(line.substr(0, end)))) return {};
  std::vector<std::string> fields;
  for (std::string_view rest = line.substr(0, end); !rest.empty();) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    fields.push_back(unescaped(rest.substr(0, blank)));
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return fields;
}

template <class Number>
bool number_in(const std::string& text, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string title_line(const Shard& shard, const std::string& settings) {
  return with_hash(std::string(kTitle) + " " + std::to_string(shard.index) + " " +
                   std::to_string(shard.count) + " " + escaped(settings));
}

bool read_title(const std::vector<std::string>& fields, JournalContents& contents) {
  if (fields.size() != 4 || fields[0] != kTitle) return false;
  contents.settings = fields[3];
  return number_in(fields[1], &contents.shard.index) && number_in(fields[2], &contents.shard.count);
}

/// What earlier lines say has become of a picture.
void forget(JournalContents& contents, const std::string& name) {
  contents.done.erase(name);
  contents.kept.erase(name);
  contents.failed.erase(name);
}

/// Names that are gone, each with how many were planned before.
using Gone = std::unordered_map<std::string, std::size_t>;

/// Removes what was planned before it was gone, all at once: one by one takes quadratic time.
void remove(const Gone& gone, std::vector<std::string>& planned) {
  if (gone.empty()) return;
  std::vector<std::string> left;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const auto found = gone.find(planned[i]);
    if (found == gone.end() || i >= found->second) left.push_back(std::move(planned[i]));
  }
  planned = std::move(left);
}

bool read_entry(const std::vector<std::string>& fields, JournalContents& contents, Gone& gone) {
  if (fields.empty()) return false;
  const std::string& kind = fields[0];
  if (kind == "plan" && fields.size() == 2) {
    contents.planned.push_back(fields[1]);
  } else if ((kind == "done" || kind == "kept") && fields.size() == 7) {
    DoneEntry entry{fields[5], fields[6], {}, {}};
    if (!number_in(fields[1], &entry.in.size) || !number_in(fields[2], &entry.in.modified) ||
        !number_in(fields[3], &entry.out.size) || !number_in(fields[4], &entry.out.modified))
      return false;
    forget(contents, entry.name);
    if (kind == "done" && entry.result != entry.name) contents.renamed[entry.result] = entry.out;
    (kind == "done" ? contents.done : contents.kept)[entry.name] = std::move(entry);
  } else if (kind == "renamed" && fields.size() == 4) {
    FileStamp stamp;
    if (!number_in(fields[1], &stamp.size) || !number_in(fields[2], &stamp.modified)) return false;
    contents.renamed[fields[3]] = stamp;
  } else if (kind == "failed" && fields.size() == 3) {
    forget(contents, fields[1]);
    contents.failed[fields[1]] = fields[2];
  } else if (kind == "gone" && fields.size() == 2) {
    gone[fields[1]] = contents.planned.size();
    forget(contents, fields[1]);
  } else if (kind == "decoders" && fields.size() == 2) {
    contents.decoders = fields[1];
  } else if (kind == "end" && fields.size() == 1) {
    contents.has_ended = true;
    return true;
  } else {
    return false;
  }
  contents.has_ended = false;  // a run came after the one that ended
  return true;
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw IoError("the journal '" + printable_name(path) + "' " + why);
}

/// What a journal that is about to be begun anew says was done by the same settings, and which
/// results have names of their own.
JournalContents done_before(const std::string& path, const std::string& settings) {
  JournalContents before;
  try {
    if (!is_begun(path)) return before;
    JournalContents contents = read_journal(path);
    before.renamed = std::move(contents.renamed);
    if (contents.settings == settings && contents.decoders.empty())
      before.done = std::move(contents.done);
  } catch (const IoError&) {
    // It is none of convfilt's, or cannot be read.
  }
  return before;
}

}  // namespace

bool is_there(const std::string& folder, const std::string& result, const FileStamp& stamp) {
  return stamp_of((std::filesystem::path(folder) / result).string()) == stamp;
}

const DoneEntry* JournalContents::result_of(const std::string& name) const {
  for (const auto* entries : {&done, &kept})
    if (const auto entry = entries->find(name); entry != entries->end()) return &entry->second;
  return nullptr;
}

std::string journal_name(const Shard& shard) {
  std::string name = ".convfilt-journal";
  if (shard.count > 1)
    name += "." + std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
  return name;
}

bool is_begun(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line)) return false;
  if (!file.eof() || !fields_of(line).empty()) return true;
  const std::string title = std::string(kTitle) + " ";
  return !title.starts_with(line) && !line.starts_with(title);
}

std::string journal_to_resume(const std::string& folder, const Shard& shard) {
  for (const Shard& whose : {shard, Shard{}})
    if (const std::string path = (std::filesystem::path(folder) / journal_name(whose)).string();
        is_begun(path))
      return path;
  return "";
}

std::set<std::string> renamed_results_in(const std::string& folder) {
  std::set<std::string> results;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(journal_name({}))) continue;
    const JournalContents contents = done_before(entry->path().string(), "");
    for (const auto& [result, stamp] : contents.renamed)
      if (is_there(folder, result, stamp)) results.insert(result);
  }
  return results;
}

JournalContents read_journal_to_resume(const std::string& path, const std::string& settings) {
  JournalContents contents = read_journal(path);
  if (contents.settings != settings)
    fail(path,
         "is that of a run with other options, another version or another codec; leave out "
         "--resume to filter all again, or name another folder");
  return contents;
}

JournalContents read_journal(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be read: " + std::string(std::strerror(errno)));
  JournalContents contents;
  std::string line;
  bool has_title = false;
  Gone gone;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = fields_of(line);
    if (!has_title) {
      if (!read_title(fields, contents)) fail(path, "is none of convfilt's; move it away");
      has_title = true;
    } else if (!read_entry(fields, contents, gone)) {
      ++contents.bad_lines;
    }
  }
  if (!has_title) fail(path, "is empty; move it away");
  remove(gone, contents.planned);
  return contents;
}

Journal::Journal(const std::string& folder, const Shard& shard, const std::string& settings,
                 bool resumes)
    : path_((std::filesystem::path(folder) / journal_name(shard)).string()) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0) fail(path_, "cannot be written: " + std::string(std::strerror(errno)));
  try {
    // The lock goes with the process, however that ends.
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      fail(path_,
           "is in use: another convfilt filters into this folder; wait for it, or name "
           "another folder");
    struct stat info {};
    const std::string earlier = resumes ? journal_to_resume(folder, shard) : "";
    is_new_ = earlier != path_;
    if (!is_new_ && ::fstat(file_, &info) == 0) {
      before_ = read_journal_to_resume(path_, settings);
      // A line that a crash has cut would spoil the next one, too.
      char last = '\n';
      if (::pread(file_, &last, 1, info.st_size - 1) == 1 && last != '\n') add("\n");
    } else {
      before_ = earlier.empty() ? done_before(path_, settings)
                                : read_journal_to_resume(earlier, settings);
      if (::ftruncate(file_, 0) != 0)
        fail(path_, "cannot be written: " + std::string(std::strerror(errno)));
      before_.shard = shard;
      before_.settings = settings;
      before_.planned.clear();
      add(title_line(shard, settings));
      if (earlier.empty())
        for (const auto& [result, stamp] : before_.renamed)
          if (is_there(folder, result, stamp)) renamed(result, stamp);
      if (!before_.decoders.empty()) decoders(before_.decoders);
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

Journal::~Journal() {
  ::close(file_);
}

void Journal::add(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const std::string whole = (is_cut_ ? "\n" : "") + text;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "cannot be written: " + std::string(std::strerror(errno)));
    rest.remove_prefix(std::size_t(written));
    is_cut_ = !rest.empty();  // for the next line, where a full disk ends this one
  }
}

void Journal::plan(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += with_hash("plan " + escaped(name));
  add(text);
}

void Journal::done(const DoneEntry& entry) {
  add_result("done ", entry);
}

void Journal::kept(const DoneEntry& entry) {
  add_result("kept ", entry);
}

void Journal::add_result(const char* kind, const DoneEntry& entry) {
  add(with_hash(kind + std::to_string(entry.in.size) + " " + std::to_string(entry.in.modified) +
                " " + std::to_string(entry.out.size) + " " + std::to_string(entry.out.modified) +
                " " + escaped(entry.name) + " " + escaped(entry.result)));
}

void Journal::failed(const std::string& name, const std::string& why) {
  add(with_hash("failed " + escaped(name) + " " + escaped(why)));
}

void Journal::gone(const std::string& name) {
  add(with_hash("gone " + escaped(name)));
}

void Journal::renamed(const std::string& result, const FileStamp& stamp) {
  add(with_hash("renamed " + std::to_string(stamp.size) + " " + std::to_string(stamp.modified) +
                " " + escaped(result)));
}

void Journal::decoders(const std::string& kind) {
  add(with_hash("decoders " + escaped(kind)));
}

void Journal::end() {
  add(with_hash("end"));
}

}  // namespace convfilt
