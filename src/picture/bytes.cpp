#include "src/picture/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw IoError("cannot read " + shown_input(path) + ": " + why);
}

[[noreturn]] void fail_system(const std::string& path, int error) {
  const char* remedy = error == ENOENT || error == ENOTDIR ? "; check its name and folder"
                       : error == EACCES                   ? "; change its permissions"
                                                           : "";
  fail(path, std::strerror(error) + std::string(remedy));
}

/// As ByteSource::read().
std::size_t copy_of(std::span<const unsigned char> bytes, std::uint64_t offset,
                    std::span<unsigned char> into) {
  const std::size_t from = std::size_t(std::min<std::uint64_t>(offset, bytes.size()));
  const std::size_t count = std::min(into.size(), bytes.size() - from);
  std::copy_n(bytes.begin() + std::ptrdiff_t(from), count, into.begin());
  return count;
}

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::span<const unsigned char> bytes) : bytes_(bytes) {
    size_ = bytes.size();
  }
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
    return copy_of(bytes_, offset, into);
  }
  std::span<const unsigned char> whole() override { return bytes_; }

 protected:
  std::span<const unsigned char> bytes_;
};

/// Standard input and pipes, which can be read only once.
class StreamSource : public MemorySource {
 public:
  StreamSource(const std::string& path, int fd) : MemorySource({}) {
    constexpr std::size_t kStep = std::size_t{1} << 20, kMost = std::size_t{1} << 31;
    std::size_t filled = 0;
    while (true) {
      if (filled > kMost)
        fail(path, "it gives more than 2 GiB, which are kept in memory; save it as a file first");
      if (kept_.size() - filled < kStep) kept_.resize(std::max(2 * filled, filled + kStep));
      const ssize_t got = ::read(fd, kept_.data() + filled, kept_.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_system(path, errno);
      if (got == 0) break;
      filled += std::size_t(got);
    }
    kept_.resize(filled);
    bytes_ = kept_;
    size_ = filled;
  }

 private:
  std::vector<unsigned char> kept_;
};

class FileSource : public ByteSource {
 public:
  FileSource(std::string path, int fd, std::uint64_t size) : path_(std::move(path)), fd_(fd) {
    size_ = size;
  }
  ~FileSource() override { close(); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
    if (fd_ < 0) return copy_of(kept_, offset, into);
    std::size_t filled = 0;
    while (filled < into.size()) {
      const ssize_t got =
          ::pread(fd_, into.data() + filled, into.size() - filled, off_t(offset + filled));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_system(path_, errno);
      if (got == 0) break;
      filled += std::size_t(got);
    }
    return filled;
  }

  std::span<const unsigned char> whole() override {
    if (fd_ >= 0) {
      kept_.resize(std::size_t(size_));
      kept_.resize(read(0, kept_));
      // Whoever keeps many pictures in memory must not run out of open files.
      close();
    }
    return kept_;
  }

 private:
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

  std::string path_;
  int fd_;  ///< -1 once all bytes are kept
  std::vector<unsigned char> kept_;
};

class FileSink : public ByteSink {
 public:
  explicit FileSink(AtomicFile& file) : file_(file) {}
  void write(std::uint64_t offset, std::span<const unsigned char> bytes) override {
    file_.write(offset, bytes);
    size_ = file_.size();
  }
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
    return file_.read(offset, into);
  }

 private:
  AtomicFile& file_;
};

}  // namespace

std::string shown_input(const std::string& path) {
  return path == "-" ? "standard input" : "'" + printable_name(path) + "'";
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  const bool from_stdin = path == "-";
  const int fd = from_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_system(path, errno);
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  const int error = errno;
  std::unique_ptr<ByteSource> source;
  // Standard input may stand in the middle of a file, so it is read as a stream in any case.
  if (known && S_ISREG(info.st_mode) && !from_stdin) {
    source = std::make_unique<FileSource>(path, fd, std::uint64_t(info.st_size));
  } else {
    struct Closer {
      int fd;
      ~Closer() { ::close(fd); }
    } closer{fd};
    if (!known) fail_system(path, error);
    if (S_ISDIR(info.st_mode)) fail(path, "it is a folder; name a picture in it");
    source = std::make_unique<StreamSource>(path, fd);
  }
  if (source->size() == 0) fail(path, "it is empty");
  return source;
}

std::unique_ptr<ByteSource> source_of(std::span<const unsigned char> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

std::unique_ptr<ByteSink> sink_of(AtomicFile& file) {
  return std::make_unique<FileSink>(file);
}

void MemorySink::write(std::uint64_t offset, std::span<const unsigned char> bytes) {
  if (bytes_.size() < offset + bytes.size()) bytes_.resize(std::size_t(offset) + bytes.size());
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + std::ptrdiff_t(offset));
  size_ = bytes_.size();
}

std::size_t MemorySink::read(std::uint64_t offset, std::span<unsigned char> into) {
  return copy_of(bytes_, offset, into);
}

}  // namespace convfilt
