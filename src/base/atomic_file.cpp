#include "src/base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "src/base/descriptor.hpp"
#include "src/base/signals.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {

// AtomicFile has members of these, so they may not be nameless.
namespace atomic_file {

constexpr char kTemporary[] = ".convfilt-", kTemporaryEnd[] = ".tmp";

/// A temporary name in a folder, removed unless it was given away.
class TemporaryName {
 public:
  explicit TemporaryName(const std::string& folder) {
    // Containers and machines that share a folder may share process numbers, too.
    std::uint64_t random = 0;
    if (::getentropy(&random, sizeof random) != 0)
      throw IoError(std::string("cannot name a temporary file: ") + std::strerror(errno));
    path_ = folder + "/" + kTemporary + std::to_string(getpid()) + "-" + std::to_string(random) +
            kTemporaryEnd;
    cleanup_.emplace(path_);
  }
  ~TemporaryName() {
    if (!given_away_) ::unlink(path_.c_str());
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const char* c_str() const { return path_.c_str(); }
  /// If there is a file that it may not replace, errno is EEXIST.
  bool rename_to(const std::string& path, bool replaces) {
    const char *const from = path_.c_str(), *const to = path.c_str();
    given_away_ = (replaces ? ::rename(from, to)
                            : ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE)) == 0;
    // NFS and some others have no such rename, but links.
    if (!given_away_ && !replaces && (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
      return ::link(from, to) == 0;
    return given_away_;
  }

 private:
  std::string path_;
  std::optional<SignalCleanup> cleanup_;
  bool given_away_ = false;
};

}  // namespace atomic_file

namespace {

using atomic_file::TemporaryName;

constexpr int kWriteSignals[] = {SIGXFSZ, SIGPIPE};

std::string shown_output(const std::string& path) {
  return path == "-" ? "to standard output" : "'" + printable_name(path) + "'";
}

[[noreturn]] void fail(const std::string& path, int error) {
  std::string remedy;
  if (error == ENOSPC || error == EDQUOT) remedy = "; make room or write elsewhere";
  if (error == EFBIG) remedy = "; raise the file size limit (ulimit -f) or write elsewhere";
  if (error == EACCES || error == EPERM || error == EROFS || error == ENOTDIR || error == ELOOP)
    remedy = "; write elsewhere";
  if (error == ENOENT) remedy = "; make its folder first";
  throw IoError("cannot write " + shown_output(path) + ": " + std::strerror(error) + remedy);
}

bool write_all(int fd, std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// Copies mode and owner from the file to be replaced. A new file follows the umask.
bool take_over_mode(int fd, const OutputTarget& target) {
  struct stat old {};
  if (!target.exists) return true;
  if (::stat(target.path.c_str(), &old) != 0) return errno == ENOENT;  // removed meanwhile
  if (old.st_uid != geteuid() || old.st_gid != getegid()) {
    // Only root may change the owner. Other users own the new file, as with any tool that replaces
    // files.
    [[maybe_unused]] const int ignored = ::fchown(fd, old.st_uid, old.st_gid);
  }
  // Some file systems refuse any change, but have already given the new file the old file's mode.
  struct stat now {};
  const auto mode = [](const struct stat& info) { return info.st_mode & 07777; };
  if (::fstat(fd, &now) == 0 && mode(now) == mode(old)) return true;
  return ::fchmod(fd, mode(old)) == 0;
}

/// The data must be on the disk before the name is, or a crash may leave an empty file. The folder
/// is not synced: until its journal is written, a crash shows the old file, which is whole, too. A
/// refused call fails the write if bytes could be lost, or if another mode would let others read
/// them. It does not if the file system has no sync or no owners.
bool settle(int fd, const OutputTarget& target) {
  if (!take_over_mode(fd, target)) return false;
  return ::fdatasync(fd) == 0 || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS;
}

FileStamp stamp_in(const struct stat& info) {
  return {std::uint64_t(info.st_size),
          std::int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

/// Whether this error means that the file system or kernel has no nameless files.
bool has_no_nameless(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == EINVAL;
}

}  // namespace

std::ptrdiff_t read_at(int fd, std::uint64_t offset, std::span<unsigned char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got =
        ::pread(fd, into.data() + filled, into.size() - filled, off_t(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    filled += std::size_t(got);
  }
  return std::ptrdiff_t(filled);
}

bool write_at(int fd, std::uint64_t offset, std::span<const unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), off_t(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    offset += std::uint64_t(written);
    bytes = bytes.subspan(std::size_t(written));
  }
  return true;
}

int open_nameless(const std::string& what) {
  const char* own = std::getenv("TMPDIR");
  int error = ENOENT;
  // If /tmp is in memory, /var/tmp is not.
  for (const char* folder : {own, "/var/tmp", "/tmp", "/dev/shm"}) {
    if (!folder || !*folder) continue;
    int fd = ::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && has_no_nameless(errno)) {
      std::string name = std::string(folder) + "/.convfilt-XXXXXX";
      fd = ::mkostemp(name.data(), O_CLOEXEC);
      if (fd >= 0) ::unlink(name.c_str());
    }
    if (fd >= 0) return fd;
    error = errno;
  }
  throw IoError(what + ": there is no folder for a temporary file (" + std::strerror(error) +
                "); name one with TMPDIR");
}

void fail_nameless(const std::string& what, int error) {
  throw IoError(what + ": its copy in a temporary file: " + std::strerror(error) +
                "; name a folder with room for it with TMPDIR");
}

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
  // If it is unknown whether the file exists, its mode could not be kept. check_writable() reports
  // a missing folder.
  if (!target.exists && errno != ENOENT && errno != ENOTDIR) fail(path, errno);
  if (target.exists && S_ISDIR(info.st_mode)) {
    throw IoError("cannot write '" + printable_name(path) + "': it is a folder; name a file in it");
  }
  target.direct = target.exists && !S_ISREG(info.st_mode);
  for (int links = 0; !target.direct && links < kMostLinks; ++links) {
    std::error_code error;
    const auto next = std::filesystem::read_symlink(target.path, error);
    if (error) break;
    // /dev/stdout and similar names lead to an open file, which is written at its position.
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

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return stamp_in(info);
}

void remove_temporaries_left(const std::string& folder) {
  using atomic_file::kTemporary, atomic_file::kTemporaryEnd;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kTemporary) || !name.ends_with(kTemporaryEnd)) continue;
    const std::string path = entry->path().string();
    const Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (file.get() >= 0 && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
      ::unlink(path.c_str());
  }
}

/// The file before it has the target's name: nameless, or under a temporary name.
struct AtomicFile::Temporaries {
  Descriptor file;
  std::optional<TemporaryName> name;
};

AtomicFile::AtomicFile(const std::string& path, Temporary temporary)
    : path_(path),
      target_(path == "-" ? OutputTarget{.path = path, .direct = true} : resolve_output(path)),
      temporaries_(std::make_unique<Temporaries>()) {
  Descriptor& file = temporaries_->file;
  if (target_.direct) {
    file.reset(open_nameless("cannot write " + shown_output(path)));
    return;
  }
  const std::string folder = folder_of(target_.path);
  if (temporary == Temporary::nameless) {
    file.reset(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
    if (file.get() >= 0) {
      ::flock(file.get(), LOCK_EX | LOCK_NB);  // it has a name for a moment in the end
      return;
    }
    if (!has_no_nameless(errno)) fail(path_, errno);
  }
  // Until it is locked, another process may take it for a leftover file and remove it.
  const auto is_removed = [&] {
    struct stat info {};
    return (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
           (::fstat(file.get(), &info) == 0 && info.st_nlink == 0);
  };
  do {
    temporaries_->name.emplace(folder);
    file.reset(::open(temporaries_->name->c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0) fail(path_, errno);
  } while (is_removed());
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::uint64_t offset, std::span<const unsigned char> bytes) {
  if (bytes.empty()) return;
  const WriteSignalsBlocked blocked;
  if (!write_at(temporaries_->file.get(), offset, bytes)) {
    // A limit of file sizes has its own remedy.
    if (target_.direct && errno != EFBIG)
      fail_nameless("cannot write " + shown_output(path_), errno);
    fail(path_, errno);
  }
  size_ = std::max(size_, offset + bytes.size());
}

std::size_t AtomicFile::read(std::uint64_t offset, std::span<unsigned char> into) {
  const ssize_t got = read_at(temporaries_->file.get(), offset, into);
  if (got < 0) fail(path_, errno);
  return std::size_t(got);
}

FileIsThere::FileIsThere(const std::string& path)
    : IoError("cannot write " + quoted_name(path) +
              ": it is there already; --if-exists=overwrite replaces it") {}

void AtomicFile::commit(const std::function<void(const FileStamp&)>& before, bool replaces) {
  const WriteSignalsBlocked blocked;
  const auto copy_to = [&](const auto& take) {
    std::vector<unsigned char> part(std::size_t{1} << 20);
    for (std::uint64_t offset = 0; offset < size_;) {
      const std::size_t got = read(offset, part);
      if (got == 0) fail(path_, EIO);
      take(std::span<const unsigned char>(part).first(got));
      offset += got;
    }
  };
  if (path_ == "-") return copy_to(write_stdout);
  if (target_.direct) {
    Descriptor file(::open(target_.path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) fail(path_, errno);
    copy_to([&](auto part) {
      if (!write_all(file.get(), part)) fail(path_, errno);
    });
    if (!file.close()) fail(path_, errno);
    return;
  }
  Descriptor& file = temporaries_->file;
  if (!settle(file.get(), target_)) fail(path_, errno);
  struct stat info {};
  if (before && ::fstat(file.get(), &info) == 0) before(stamp_in(info));
  const auto fail_to_name = [&](int error) {
    if (!replaces && error == EEXIST) throw FileIsThere(path_);
    fail(path_, error);
  };
  if (std::optional<TemporaryName>& name = temporaries_->name) {
    const Descriptor locked(::dup(file.get()));  // until it has the other name
    if (!file.close() || !name->rename_to(target_.path, replaces)) fail_to_name(errno);
    return;
  }
  const std::string nameless = "/proc/self/fd/" + std::to_string(file.get());
  const auto link_as = [&](const char* name) {
    return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  };
  if ((!target_.exists || !replaces) && link_as(target_.path.c_str())) return;
  // A link cannot replace a file, only a rename can: the whole file has another name for a moment.
  TemporaryName name(folder_of(target_.path));
  if (!link_as(name.c_str())) {  // There is no /proc here, so the bytes go through a named file.
    AtomicFile copy(path_, Temporary::named);
    copy_to([&](auto part) { copy.write(copy.size(), part); });
    return copy.commit({}, replaces);
  }
  if (!name.rename_to(target_.path, replaces)) fail_to_name(errno);
}

void write_file(const std::string& path, std::span<const unsigned char> bytes,
                Temporary temporary) {
  AtomicFile file(path, temporary);
  file.write(0, bytes);
  file.commit();
}

void check_writable(const std::string& path) {
  const OutputTarget target = resolve_output(path);
  const std::string folder = folder_of(target.path),
                    its_folder = "its folder " + quoted_name(folder);
  const auto refuse = [&](const std::string& why) {
    throw IoError("cannot write " + quoted_name(path) + ": " + why);
  };
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0)
    refuse(its_folder + " is not there (" + std::strerror(errno) + "); make it first");
  const auto writable = [](const std::string& name) {
    return ::faccessat(AT_FDCWD, name.c_str(), W_OK, AT_EACCESS) == 0;
  };
  if (target.exists && !writable(target.path))
    refuse(std::strerror(errno) + std::string("; change its permissions or write elsewhere"));
  if (!target.direct && !writable(folder))
    refuse(its_folder + " is not writable (" + std::strerror(errno) + "); write elsewhere");
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
