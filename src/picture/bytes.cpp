#include "src/picture/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/atomic_file.hpp"
#include "src/base/descriptor.hpp"
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
std::size_t copy_of(ByteView bytes, std::uint64_t offset, std::span<unsigned char> into) {
  const std::size_t from = std::size_t(std::min<std::uint64_t>(offset, bytes.size()));
  const std::size_t count = std::min(into.size(), bytes.size() - from);
  std::copy_n(bytes.begin() + std::ptrdiff_t(from), count, into.begin());
  return count;
}

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(ByteView bytes) : bytes_(bytes) { size_ = bytes.size(); }
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
    return copy_of(bytes_, offset, into);
  }
  ByteView whole() override { return bytes_; }

 private:
  ByteView bytes_;
};

class FileSource : public ByteSource {
 public:
  FileSource(std::string path, int fd, std::uint64_t size) : path_(std::move(path)), file_(fd) {
    size_ = size;
  }
  void set_size(std::uint64_t size) { size_ = size; }

  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
    if (file_.get() < 0) return copy_of(kept_, offset, into);
    const std::ptrdiff_t got = read_at(file_.get(), offset, into);
    if (got < 0) fail_system(path_, errno);
    return std::size_t(got);
  }

  ByteView whole() override {
    if (file_.get() >= 0) {
      kept_.resize(std::size_t(size_));
      kept_.resize(read(0, kept_));
      // A program that keeps many pictures in memory must not run out of open files.
      file_.reset();
    }
    return kept_;
  }

 private:
  std::string path_;
  Descriptor file_;  ///< closed once all bytes are kept
  Bytes kept_;
};

class FileSink : public ByteSink {
 public:
  explicit FileSink(AtomicFile& file) : file_(file) {}
  void write(std::uint64_t offset, ByteView bytes) override {
    file_.write(offset, bytes);
    size_ = file_.size();
  }
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
    return file_.read(offset, into);
  }

 private:
  AtomicFile& file_;
};

/// Copies standard input or a pipe, which can be read only once, to a file. It stops early if the
/// first bytes are those of no picture.
std::unique_ptr<ByteSource> source_of_stream(const std::string& path, int stream) {
  constexpr std::size_t kPart = std::size_t{1} << 18;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  const int fd = open_nameless("cannot read " + shown_input(path));
  auto source = std::make_unique<FileSource>(path, fd, 0);
  Bytes part(kPart);
  const WriteSignalsBlocked blocked;
  while (true) {
    const ssize_t got = ::read(stream, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_system(path, errno);
    const std::uint64_t before = source->size();
    if (!write_at(fd, before, std::span(part).first(std::size_t(got))))
      fail_nameless("cannot read " + shown_input(path), errno);
    source->set_size(before + std::uint64_t(got));
    const bool is_start = before < kSniffedBytes;
    if (is_start && source->size() > 0 && (got == 0 || source->size() >= kSniffedBytes))
      format_of(*source, path);
    if (got == 0) return source;
    if (source->size() > kMost)
      fail(path, "it gives more than 2 GiB, more than is copied; save it as a file first");
  }
}

}  // namespace

std::string shown_input(const std::string& path) {
  return path == "-" ? "standard input" : quoted_name(path);
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
    const Descriptor closer(fd);
    if (!known) fail_system(path, error);
    if (S_ISDIR(info.st_mode)) fail(path, "it is a folder; name a picture in it");
    source = source_of_stream(path, fd);
  }
  if (source->size() == 0) fail(path, "it is empty");
  return source;
}

FormatId format_of(ByteSource& source, const std::string& path) {
  std::array<unsigned char, kSniffedBytes> start{};
  const std::size_t got = source.read(0, start);
  FormatId format;
  if (!sniff(std::span(start).first(got), &format))
    fail(path, "not a picture of a known format (" + known_formats() + ")");
  return format;
}

std::unique_ptr<ByteSource> source_of(ByteView bytes) {
  return std::make_unique<MemorySource>(bytes);
}

std::unique_ptr<ByteSink> sink_of(AtomicFile& file) {
  return std::make_unique<FileSink>(file);
}

void MemorySink::write(std::uint64_t offset, ByteView bytes) {
  if (bytes_.size() < offset + bytes.size()) bytes_.resize(std::size_t(offset) + bytes.size());
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + std::ptrdiff_t(offset));
  size_ = bytes_.size();
}

std::size_t MemorySink::read(std::uint64_t offset, std::span<unsigned char> into) {
  return copy_of(bytes_, offset, into);
}

}  // namespace convfilt
