#include "src/run/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/base/splitmix.hpp"

namespace convfilt {
namespace {

constexpr std::string_view kTitle = "convfilt-journal-2";

/// Fields are parted by blanks and lines by newlines, so names with these, and bytes beyond ASCII's
/// printable ones, are escaped.
std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c > ' ' && c < 0x7f && c != '%')
      line += c;
    else
      line += with_format("%%%02x", static_cast<unsigned char>(c));
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

std::string with_hash(const std::string& text) {
  return text + " " + digits_of(stable_hash(text)) + "\n";
}

/// The fields of a line whose hash is right; else none.
std::vector<std::string> fields_of(std::string_view line) {
  const std::size_t end = line.rfind(' ');
  if (end == line.npos || line.substr(end + 1) != digits_of(stable_hash(line.substr(0, end))))
    return {};
  std::vector<std::string> fields;
  for (std::string_view rest = line.substr(0, end); !rest.empty();) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    fields.push_back(unescaped(rest.substr(0, blank)));
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return fields;
}

/// The stamp in two fields from this one on.
std::optional<FileStamp> stamp_in(const std::string* field) {
  const auto size = number_of_word<std::uint64_t>(field[0]);
  const auto modified = number_of_word<std::int64_t>(field[1]);
  return size && modified ? std::optional(FileStamp{*size, *modified}) : std::nullopt;
}

std::string with_stamp(const FileStamp& stamp) {
  return std::to_string(stamp.size) + " " + std::to_string(stamp.modified) + " ";
}

// The lines, as the journal has them before their hashes.

std::string result_line(const char* kind, const DoneEntry& entry) {
  return kind + (" " + with_stamp(entry.in)) + with_stamp(entry.out) + escaped(entry.name) + " " +
         escaped(entry.result);
}

std::string failed_line(const std::string& name, const std::string& why) {
  return "failed " + escaped(name) + " " + escaped(why);
}

std::string renamed_line(const std::string& result, const FileStamp& stamp) {
  return "renamed " + with_stamp(stamp) + escaped(result);
}

bool read_title(const std::vector<std::string>& fields, JournalContents& contents) {
  if (fields.size() != 4 || fields[0] != kTitle) return false;
  const auto index = number_of_word<int>(fields[1]), count = number_of_word<int>(fields[2]);
  contents.settings = fields[3];
  contents.shard = {index.value_or(0), count.value_or(0)};
  return index && count;
}

bool read_entry(const std::vector<std::string>& fields, JournalContents& contents,
                std::string& end_hash) {
  if (fields.empty()) return false;
  const std::string& kind = fields[0];
  if (kind == "plan" && fields.size() == 2) {
    contents.pictures[fields[1]].is_planned = true;
  } else if ((kind == "done" || kind == "kept") && fields.size() == 7) {
    const auto in = stamp_in(&fields[1]), out = stamp_in(&fields[3]);
    if (!in || !out) return false;
    const std::string &name = fields[5], &result = fields[6];
    const bool is_renamed = result != name;
    if (kind == "done" && is_renamed) contents.renamed[result] = *out;
    Record& record = contents.pictures[name];
    record = {kind == "done" ? RecordState::done : RecordState::kept, record.is_planned,
              is_renamed ? result : "", *in, *out};
  } else if (kind == "renamed" && fields.size() == 4) {
    const auto stamp = stamp_in(&fields[1]);
    if (!stamp) return false;
    contents.renamed[fields[3]] = *stamp;
  } else if (kind == "failed" && fields.size() == 3) {
    Record& record = contents.pictures[fields[1]];
    record = {RecordState::failed, record.is_planned, fields[2]};
  } else if (kind == "gone" && fields.size() == 2) {
    contents.pictures.erase(fields[1]);
  } else if (kind == "decoders" && fields.size() == 2) {
    contents.decoders = fields[1];
  } else if (kind == "end" && fields.size() == 2) {
    contents.has_ended = true;
    end_hash = fields[1];
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

std::string path_of(const std::string& folder, const Shard& shard) {
  return (std::filesystem::path(folder) / journal_name(shard)).string();
}

/// Opens a file by a journal's name; -1 where there is none. A pipe would be waited for, and a
/// device may never end. Throws IoError.
int open_journal(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC, 0666);
  const int error = errno;
  struct stat info {};
  const bool is_known = file >= 0 ? ::fstat(file, &info) == 0 : ::stat(path.c_str(), &info) == 0;
  if (is_known && !S_ISREG(info.st_mode)) {
    if (file >= 0) ::close(file);
    fail(path, "is not a regular file; move it away");
  }
  if (file < 0 && ((flags & O_CREAT) || (error != ENOENT && error != ENOTDIR)))
    fail(path, ((flags & O_CREAT) ? "cannot be written: " : "cannot be read: ") +
                   std::string(std::strerror(error)));
  return file;
}

/// Locks an open journal. The lock goes with the process, however that ends.
void lock(int file, int how, const std::string& path) {
  if (::flock(file, how | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    fail(path,
         "is in use: another convfilt filters into this folder; wait for it, or name another "
         "folder");
}

/// Reads a journal line by line.
class Lines {
 public:
  /// Throws IoError.
  explicit Lines(const std::string& path) : path_(path) {
    const Descriptor file(open_journal(path, O_RDONLY));
    if (file.get() < 0) return;
    file_.exceptions(std::ios::badbit);
    file_.open(path, std::ios::binary);
    if (!is_there()) fail(path_, "cannot be opened: " + std::string(std::strerror(errno)));
  }

  bool is_there() const { return file_.is_open(); }

  /// The next line, without its newline. Throws IoError.
  bool next(std::string_view& line) {
    try {
      std::getline(file_, line_);
    } catch (const std::ios::failure&) {
      fail(path_, "cannot be read: " + std::string(std::strerror(errno)));
    }
    line = line_;
    return !file_.fail();
  }

  /// Whether the latest line ended with a newline.
  bool is_whole() const { return !file_.eof(); }

 private:
  const std::string path_;
  std::ifstream file_;
  std::string line_;
};

/// Entries of a journal that is about to be begun anew: the pictures that were done by the same
/// settings, and the results whose names differ from their inputs'.
JournalContents done_before(const std::string& path, const std::string& settings) {
  JournalContents before;
  try {
    if (!is_begun(path)) return before;
    JournalContents contents = read_journal(path);
    before.renamed = std::move(contents.renamed);
    if (hash_in(contents.settings) != hash_in(settings) || !contents.decoders.empty())
      return before;
    before.pictures = std::move(contents.pictures);
    std::erase_if(before.pictures,
                  [](const auto& each) { return each.second.state != RecordState::done; });
  } catch (const IoError&) {
    // It is none of convfilt's, or cannot be read.
  }
  return before;
}

}  // namespace

bool is_there(const std::string& folder, const std::string& result, const FileStamp& stamp) {
  return stamp_of((std::filesystem::path(folder) / result).string()) == stamp;
}

std::optional<DoneEntry> JournalContents::done(const std::string& name) const {
  const auto found = pictures.find(name);
  return found != pictures.end() && found->second.state == RecordState::done ? result_of(name)
                                                                             : std::nullopt;
}

std::optional<DoneEntry> JournalContents::result_of(const std::string& name) const {
  const auto found = pictures.find(name);
  if (found == pictures.end()) return std::nullopt;
  const auto& [state, is_planned, text, in, out] = found->second;
  if (state != RecordState::done && state != RecordState::kept) return std::nullopt;
  return DoneEntry{name, text.empty() ? name : text, in, out};
}

std::string journal_name(const Shard& shard) {
  std::string name = ".convfilt-journal";
  if (shard.count > 1)
    name += "." + std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
  return name;
}

bool is_begun(const std::string& path) {
  Lines lines(path);
  std::string_view line;
  if (!lines.next(line)) return false;
  if (lines.is_whole() || !fields_of(line).empty()) return true;
  const std::string title = std::string(kTitle) + " ";
  return !title.starts_with(line) && !line.starts_with(title);
}

std::vector<Shard> shards_in(const std::string& folder) {
  std::vector<Shard> shards;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    Shard shard;
    if (std::sscanf(name.c_str(), ".convfilt-journal.%d-of-%d", &shard.index, &shard.count) == 2 &&
        shard.count > 1 && name == journal_name(shard))
      shards.push_back(shard);
  }
  if (error)
    throw IoError("cannot read the folder " + quoted_name(folder) + ": " + error.message());
  // A folder lists its files in any order, and messages shall not depend on that.
  std::ranges::sort(shards, {}, [](const Shard& s) { return std::pair(s.count, s.index); });
  return shards;
}

std::string journal_to_resume(const std::string& folder, const Shard& shard) {
  for (const Shard& whose : {shard, Shard{}})
    if (const std::string path = path_of(folder, whose); is_begun(path)) return path;
  return "";
}

std::set<std::string> renamed_results_in(const std::string& folder) {
  std::set<std::string> results;
  std::error_code error;
  std::vector<Shard> shards;
  if (std::filesystem::is_directory(folder, error)) shards = shards_in(folder);
  shards.push_back({});
  for (const Shard& shard : shards) {
    const JournalContents contents = done_before(path_of(folder, shard), "");
    for (const auto& [result, stamp] : contents.renamed)
      if (is_there(folder, result, stamp)) results.insert(result);
  }
  return results;
}

JournalContents read_journal_to_resume(const std::string& folder, const Shard& shard,
                                       const std::string& path, const std::string& settings) {
  const auto refuse = [](const std::string& journal) {
    fail(journal,
         "belongs to a run with other options, another version or another codec; leave out "
         "--resume to filter all again, or name another folder");
  };
  JournalContents contents = read_journal(path);
  if (hash_in(contents.settings) != hash_in(settings)) refuse(path);
  const std::vector<Shard> beside = shard.count > 1 ? std::vector{Shard{}} : shards_in(folder);
  const std::optional<FileStamp> own = stamp_of(path);
  for (const Shard& each : beside) {
    const std::string other = path_of(folder, each);
    const std::optional<FileStamp> stamp = stamp_of(other);
    if (other != path && stamp && own && stamp->modified >= own->modified && is_begun(other) &&
        hash_in(read_journal(other, true).settings) != hash_in(settings))
      refuse(other);
  }
  return contents;
}

JournalContents read_journal(const std::string& path, bool title_alone) {
  Lines lines(path);
  if (!lines.is_there()) fail(path, "is not there");
  JournalContents contents;
  std::string_view line;
  if (!lines.next(line)) fail(path, "is empty; move it away");
  if (!read_title(fields_of(line), contents))
    fail(path, "was not written by this version of convfilt; move it away");
  if (title_alone) return contents;
  std::string end_hash;
  while (lines.next(line))
    if (!read_entry(fields_of(line), contents, end_hash)) ++contents.bad_lines;
  contents.has_changed = contents.has_ended && end_hash != digits_of(contents.hash());
  return contents;
}

std::uint64_t JournalContents::hash() const {
  std::vector<std::uint64_t> lines;
  const auto add = [&](const std::string& line) { lines.push_back(stable_hash(line)); };
  add("decoders " + escaped(decoders));
  for (const auto& [name, record] : pictures) {
    if (record.is_planned) add("plan " + escaped(name));
    if (record.state == RecordState::failed) add(failed_line(name, record.text));
    if (const auto entry = result_of(name))
      add(result_line(record.state == RecordState::done ? "done" : "kept", *entry));
  }
  for (const auto& [result, stamp] : renamed) add(renamed_line(result, stamp));
  // Neither their order matters, nor that one comes twice.
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0});
}

Journal::Journal(const std::string& folder, const Shard& shard, const std::string& settings,
                 bool resumes)
    : path_(path_of(folder, shard)) {
  if (shard.count > 1) {
    const std::string joined = path_of(folder, {});
    // A lock needs no right to write: another user may own the file.
    joined_.reset(open_journal(joined, O_RDONLY | O_NOFOLLOW));
    if (joined_.get() < 0) joined_.reset(open_journal(joined, O_RDONLY | O_CREAT | O_NOFOLLOW));
    lock(joined_.get(), LOCK_SH, joined);
  }
  file_.reset(open_journal(path_, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW));
  lock(file_.get(), LOCK_EX, path_);
  struct stat info {};
  const std::string earlier = resumes ? journal_to_resume(folder, shard) : "";
  is_new_ = earlier != path_;
  if (!is_new_ && ::fstat(file_.get(), &info) == 0) {
    before_ = read_journal_to_resume(folder, shard, path_, settings);
    // A line that a crash has cut would spoil the next one, too.
    char last = '\n';
    if (::pread(file_.get(), &last, 1, info.st_size - 1) == 1 && last != '\n') add("\n");
    return;
  }
  before_ = earlier.empty() ? done_before(path_, settings)
                            : read_journal_to_resume(folder, shard, earlier, settings);
  if (::ftruncate(file_.get(), 0) != 0)
    fail(path_, "cannot be written: " + std::string(std::strerror(errno)));
  before_.shard = shard;
  before_.settings = settings;
  for (auto& [name, record] : before_.pictures) record.is_planned = false;
  add(with_hash(std::string(kTitle) + " " + std::to_string(shard.index) + " " +
                std::to_string(shard.count) + " " + escaped(settings)));
  if (earlier.empty())
    for (const auto& [result, stamp] : before_.renamed)
      if (is_there(folder, result, stamp)) renamed(result, stamp);
  if (!before_.decoders.empty()) decoders(before_.decoders);
}

void Journal::add(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const std::string whole = (is_cut_ ? "\n" : "") + text;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
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
  add(with_hash(result_line("done", entry)));
}

void Journal::kept(const DoneEntry& entry) {
  add(with_hash(result_line("kept", entry)));
}

void Journal::failed(const std::string& name, const std::string& why) {
  add(with_hash(failed_line(name, why)));
}

void Journal::gone(const std::string& name) {
  add(with_hash("gone " + escaped(name)));
}

void Journal::renamed(const std::string& result, const FileStamp& stamp) {
  add(with_hash(renamed_line(result, stamp)));
}

void Journal::decoders(const std::string& kind) {
  add(with_hash("decoders " + escaped(kind)));
}

void Journal::end() {
  before_ = {};
  add(with_hash("end " + digits_of(read_journal(path_).hash())));
}

}  // namespace convfilt
