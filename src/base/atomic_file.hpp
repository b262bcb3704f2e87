/// Files that appear whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/base/errors.hpp"

namespace convfilt {

/// The file that an output name leads to.
struct OutputTarget {
  std::string path;  ///< links followed; its folder need not exist
  bool exists = false;
  bool direct = false;  ///< a device, pipe or open descriptor: written into, not replaced
};

/// Throws IoError for a circle of links, and for a folder.
OutputTarget resolve_output(const std::string& path);

/// The folder part of a path; "." when it has none.
std::string folder_of(const std::string& path);

/// The file's name until it is whole. Some file systems have no nameless files; there `nameless`
/// becomes `named`.
enum class Temporary { nameless, named };

/// Tells whether a file has changed.
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970

  bool operator==(const FileStamp&) const = default;
};

/// Nothing if there is no such regular file.
std::optional<FileStamp> stamp_of(const std::string& path);

/// Removes temporary files that killed processes left in a folder. Files that a process on any
/// machine is still writing are locked, and stay.
void remove_temporaries_left(const std::string& folder);

/// The file exists and must not be replaced.
struct FileIsThere : IoError {
  explicit FileIsThere(const std::string& path);
};

/// A file that appears under its name when it is whole. Until commit() it is a temporary file in
/// the target's folder. commit() syncs it and gives it the target's name in one step. It replaces
/// an existing file, and keeps that file's mode (and owner, if allowed). So a full disk, a signal
/// or a crash leaves the old file unchanged. No other file is left either: a named temporary is
/// removed on SIGHUP, SIGINT, SIGPIPE, SIGQUIT and SIGTERM, but not on SIGKILL. Devices, pipes,
/// open descriptors and standard output ("-") get their bytes at commit(); until then the bytes lie
/// in a file of open_nameless(). Only one thread at a time may use it.
class AtomicFile {
 public:
  /// Throws IoError.
  explicit AtomicFile(const std::string& path, Temporary temporary = Temporary::nameless);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::uint64_t size() const { return size_; }

  /// Writes at `offset`; a gap before it is filled with zeros. Throws IoError.
  void write(std::uint64_t offset, std::span<const unsigned char> bytes);

  /// Reads written bytes back and returns their number, which is less than asked for only at the
  /// end. Throws IoError.
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into);

  /// Throws IoError; then the old file is unchanged. If `replaces` is false and the file exists,
  /// even since a moment ago, it throws FileIsThere. `before` is called when only the name is
  /// missing, with the stamp that the file will have; if it throws, the old file stays, too.
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

/// Throws IoError if write_file(path) would fail because its folder is missing or not writable.
/// Call it before any work.
void check_writable(const std::string& path);

/// Whether `in` and `out` are the same regular file. All links are followed; "-" is standard input
/// or output.
bool same_file(const std::string& in, const std::string& out);

/// Whether both outputs are the same file, even if it does not exist yet. "-" is standard output.
bool same_output(const std::string& one, const std::string& other);

/// Opens a nameless file, so that bytes from or for a pipe take no memory: in the first of $TMPDIR,
/// /var/tmp, /tmp and /dev/shm that allows it. The caller closes it. Throws IoError, which begins
/// with `what`, such as "cannot read 'in.jpg'".
int open_nameless(const std::string& what);

/// Throws IoError for a nameless file that cannot be written, with errno and the remedy.
[[noreturn]] void fail_nameless(const std::string& what, int error);

/// Reads at `offset`, to the end of `into` or of the file; negative on failure, with errno set.
std::ptrdiff_t read_at(int fd, std::uint64_t offset, std::span<unsigned char> into);

/// Writes at `offset`; false on failure, with errno set.
bool write_at(int fd, std::uint64_t offset, std::span<const unsigned char> bytes);

/// Writes to standard output. Throws IoError, also for a closed pipe.
void write_stdout(std::span<const unsigned char> bytes);

/// While it lives, a file size limit or a closed pipe makes write(2) fail in this thread, instead
/// of ending the process.
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
