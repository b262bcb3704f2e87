/// Files that appear whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/errors.hpp"

namespace convfilt {

/// Where an output name leads.
struct OutputTarget {
  std::string path;  ///< links followed; its folder need not exist
  bool exists = false;
  bool direct = false;  ///< a device, pipe or open descriptor: written into, not replaced
};

/// Throws IoError for a circle of links or a folder.
OutputTarget resolve_output(const std::string& path);

/// The folder part of a path; "." when it has none.
std::string folder_of(const std::string& path);

/// What the file is called until it is whole. Not every file system knows nameless files; `named`
/// is what `nameless` falls back to there.
enum class Temporary { nameless, named };

/// A file as far as telling whether it is another one now.
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970

  bool operator==(const FileStamp&) const = default;
};

/// Nothing where there is no such regular file.
std::optional<FileStamp> stamp_of(const std::string& path);

/// Removes temporary files that processes which were killed have left in a folder. Those that a
/// process writes, on whatever machine, are locked, and stay.
void remove_temporaries_left(const std::string& folder);

/// A file was not to be replaced.
struct FileIsThere : IoError {
  explicit FileIsThere(const std::string& path);
};

/// A file that appears under its name when it is whole. Until commit() it is a temporary in the
/// target's folder. commit() syncs it and gives it the target's name in one step, replacing an
/// existing file, whose mode it takes over (and owner, where allowed). So a full disk, a signal or
/// a crash leave the old file as it was. Nothing is left beside it either; a named temporary is
/// removed on SIGHUP, SIGINT, SIGPIPE, SIGQUIT and SIGTERM, but not on SIGKILL. A device, a pipe or
/// an open descriptor, and standard output as "-", get their bytes at commit(); until then they lie
/// in a file of open_nameless(). Only one thread at a time may use it.
class AtomicFile {
 public:
  /// Throws IoError.
  explicit AtomicFile(const std::string& path, Temporary temporary = Temporary::nameless);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::uint64_t size() const { return size_; }

  /// Writes at `offset`; a gap before it holds zeros. Throws IoError.
  void write(std::uint64_t offset, std::span<const unsigned char> bytes);

  /// Reads back what was written, and says how many bytes: fewer than asked for only at the end.
  /// Throws IoError.
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into);

  /// Throws IoError; the old file then is as it was. Where it does not replace, FileIsThere is
  /// thrown for a file that is there, even one that appeared just now. `before` is called when all
  /// but the name is done, with the stamp that the file is going to have; what it throws leaves the
  /// old file, too.
  void commit(const std::function<void(const FileStamp&)>& before = {}, bool replaces = true);

 private:
  struct Temporaries;

  std::string path_;
  OutputTarget target_;
  std::uint64_t size_ = 0;
  std::unique_ptr<Temporaries> temporaries_;
};

/// Writes a whole AtomicFile. Throws IoError.
void write_file(const std::string& path, std::span<const unsigned char> bytes,
                Temporary temporary = Temporary::nameless);

/// Throws IoError where write_file(path) would fail because its folder is missing or not writable.
/// It is called before any work.
void check_writable(const std::string& path);

/// Is `out` the regular file that `in` is? Links of all kinds are followed; "-" is standard input,
/// or standard output.
bool same_file(const std::string& in, const std::string& out);

/// Would both outputs be one file, whether it is there yet or not? "-" is standard output.
bool same_output(const std::string& one, const std::string& other);

/// Opens a file without a name for bytes that come from a pipe or go to one, so that they take no
/// memory: in $TMPDIR, else in /var/tmp, /tmp or /dev/shm, the first of them that lets it. The
/// caller closes it. Throws IoError, which begins with `what`, such as "cannot read 'in.jpg'".
int open_nameless(const std::string& what);

/// Throws IoError for such a file that cannot be written, with errno and the remedy.
[[noreturn]] void fail_nameless(const std::string& what, int error);

/// Writes at `offset`; false on failure, which errno tells.
bool write_at(int fd, std::uint64_t offset, std::span<const unsigned char> bytes);

/// Writes to standard output. Throws IoError, for a closed pipe too.
void write_stdout(std::span<const unsigned char> bytes);

/// While it lives, a file size limit and a closed pipe are errors of write(2) in this thread, not
/// the death of the process.
class WriteSignalsBlocked {
 public:
  WriteSignalsBlocked();
  ~WriteSignalsBlocked();
  WriteSignalsBlocked(const WriteSignalsBlocked&) = delete;
  WriteSignalsBlocked& operator=(const WriteSignalsBlocked&) = delete;

 private:
  bool restore_[2] = {};
};

}  // namespace convfilt
