#include "src/base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "src/base/errors.hpp"
#include "src/base/signal_cleanup.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

constexpr int kWriteSignals[] = {SIGXFSZ, SIGPIPE};

[[noreturn]] void fail(const std::string& path, int error) {
  std::string remedy;
  if (error == ENOSPC || error == EDQUOT) remedy = "; make room or write elsewhere";
  if (error == EFBIG) remedy = "; raise the file size limit (ulimit -f) or write elsewhere";
  if (error == EACCES || error == EPERM || error == EROFS || error == ENOTDIR || error == ELOOP)
    remedy = "; write elsewhere";
  if (error == ENOENT) remedy = "; make its folder first";
  throw IoError("cannot write '" + printable_name(path) + "': " + std::strerror(error) + remedy);
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  /// Closes now, since some file systems report a failed write only here.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0 || errno == EINTR;
  }

 private:
  int fd_;
};

bool write_all(int fd, std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// A temporary name in a folder, removed unless it was given away.
class TemporaryName {
 public:
  explicit TemporaryName(const std::string& folder) {
    static std::atomic<unsigned> counter{0};
    path_ = folder + "/.convfilt-" + std::to_string(getpid()) + "-" +
            std::to_string(counter.fetch_add(1)) + ".tmp";
    ::unlink(path_.c_str());  // a killed process with our number may have left one
    cleanup_.emplace(path_);
  }
  ~TemporaryName() {
    if (!given_away_) ::unlink(path_.c_str());
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const char* c_str() const { return path_.c_str(); }
  bool rename_to(const std::string& path) {
    given_away_ = ::rename(path_.c_str(), path.c_str()) == 0;
    return given_away_;
  }

 private:
  std::string path_;
  std::optional<SignalCleanup> cleanup_;
  bool given_away_ = false;
};

/// Takes over mode and owner of the file that is to be replaced. A new file follows the umask.
bool take_over_mode(int fd, const OutputTarget& target) {
  struct stat old {};
  if (!target.exists || ::stat(target.path.c_str(), &old) != 0) return true;
  if (old.st_uid != geteuid() || old.st_gid != getegid()) {
    // Only root may change the owner. For others the new file is theirs, as with any tool that
    // replaces files.
    [[maybe_unused]] const int ignored = ::fchown(fd, old.st_uid, old.st_gid);
  }
  return ::fchmod(fd, old.st_mode & 07777) == 0;
}

/// The data must be on the disk before the name is, or a crash may leave an empty file under it.
/// The folder is not synced: until its journal is written a crash shows the old file, also whole.
bool fill(int fd, std::span<const unsigned char> bytes, const OutputTarget& target) {
  if (!write_all(fd, bytes) || !take_over_mode(fd, target)) return false;
  return ::fdatasync(fd) == 0 || errno == EINVAL;  // EINVAL: this file system has no sync
}

/// False when this file system or kernel has no nameless files.
bool write_nameless(const OutputTarget& target, std::span<const unsigned char> bytes) {
  const std::string folder = folder_of(target.path);
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (file.get() < 0) {
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) return false;
    fail(target.path, errno);
  }
  if (!fill(file.get(), bytes, target)) fail(target.path, errno);
  const std::string nameless = "/proc/self/fd/" + std::to_string(file.get());
  const auto link_as = [&](const char* name) {
    return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  };
  if (!target.exists && link_as(target.path.c_str())) return true;
  // A link cannot replace a file, only a rename can: the whole file has another name for a moment.
  TemporaryName name(folder);
  if (!link_as(name.c_str())) return false;  // no /proc here
  if (!name.rename_to(target.path)) fail(target.path, errno);
  return true;
}

void write_named(const OutputTarget& target, std::span<const unsigned char> bytes) {
  TemporaryName name(folder_of(target.path));
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0 || !fill(file.get(), bytes, target) || !file.close() ||
      !name.rename_to(target.path)) {
    fail(target.path, errno);
  }
}

}  // namespace

WriteSignalsBlocked::WriteSignalsBlocked() {
  // The kernel sends both to the very thread that writes, so its own mask is enough.
  sigset_t before, blocked;
  sigemptyset(&blocked);
  for (const int signal : kWriteSignals) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  for (int i = 0; i < 2; ++i) restore_[i] = !sigismember(&before, kWriteSignals[i]);
}

WriteSignalsBlocked::~WriteSignalsBlocked() {
  const int error = errno;
  sigset_t ours;
  sigemptyset(&ours);
  for (int i = 0; i < 2; ++i) {
    if (restore_[i]) sigaddset(&ours, kWriteSignals[i]);
  }
  const timespec at_once{};
  while (sigtimedwait(&ours, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
  errno = error;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

OutputTarget resolve_output(const std::string& path) {
  constexpr int kMostLinks = 40;  // the kernel's own limit
  OutputTarget target{.path = path};
  struct stat info {};
  target.exists = ::stat(path.c_str(), &info) == 0;
  if (!target.exists && errno == ELOOP) fail(path, ELOOP);
  if (target.exists && S_ISDIR(info.st_mode)) {
    throw IoError("cannot write '" + printable_name(path) + "': it is a folder; name a file in it");
  }
  target.direct = target.exists && !S_ISREG(info.st_mode);
  for (int links = 0; !target.direct && links < kMostLinks; ++links) {
    std::error_code error;
    const auto next = std::filesystem::read_symlink(target.path, error);
    if (error) break;
    // /dev/stdout and its like lead to an open file, which is written where it stands.
    const auto folder = std::filesystem::canonical(folder_of(target.path), error);
    target.direct = !error && folder.string().starts_with("/proc/");
    if (target.direct)
      target.path = path;
    else
      target.path =
          next.is_absolute() ? next.string() : folder_of(target.path) + "/" + next.string();
  }
  return target;
}

void write_file(const std::string& path, std::span<const unsigned char> bytes,
                Temporary temporary) {
  const WriteSignalsBlocked blocked;
  const OutputTarget target = resolve_output(path);
  if (target.direct) {
    Descriptor file(::open(target.path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0 || !write_all(file.get(), bytes) || !file.close()) fail(path, errno);
    return;
  }
  if (temporary == Temporary::named || !write_nameless(target, bytes)) write_named(target, bytes);
}

void check_writable(const std::string& path) {
  const auto shown = [](const std::string& name) { return "'" + printable_name(name) + "'"; };
  const OutputTarget target = resolve_output(path);
  const std::string folder = folder_of(target.path);
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    throw IoError("cannot write " + shown(path) + ": its folder " + shown(folder) +
                  " is not there (" + std::strerror(errno) + "); make it first");
  }
  const auto writable = [](const std::string& name) {
    return ::faccessat(AT_FDCWD, name.c_str(), W_OK, AT_EACCESS) == 0;
  };
  if (target.exists && !writable(target.path)) {
    throw IoError("cannot write " + shown(path) + ": " + std::strerror(errno) +
                  "; change its permissions or write elsewhere");
  }
  if (!target.direct && !writable(folder)) {
    throw IoError("cannot write " + shown(path) + ": its folder " + shown(folder) +
                  " is not writable (" + std::strerror(errno) + "); write elsewhere");
  }
}

bool same_file(const std::string& in, const std::string& out) {
  struct stat from {
  }, to{};
  if ((in == "-" ? ::fstat(STDIN_FILENO, &from) : ::stat(in.c_str(), &from)) != 0) return false;
  if ((out == "-" ? ::fstat(STDOUT_FILENO, &to) : ::stat(out.c_str(), &to)) != 0) return false;
  return S_ISREG(from.st_mode) && from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

bool same_output(const std::string& one, const std::string& other) {
  if (one == "-" ? same_file(other, one) : same_file(one, other)) return true;
  if (one == "-" || other == "-") return one == other;
  const auto place = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(resolve_output(path).path));
  };
  return place(one) == place(other);
}

void write_stdout(std::span<const unsigned char> bytes) {
  const WriteSignalsBlocked blocked;
  if (!write_all(STDOUT_FILENO, bytes)) {
    const std::string why = std::strerror(errno);
    throw IoError("cannot write to standard output: " + why + "; is it open, with room behind it?");
  }
}

}  // namespace convfilt
