#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/codec_guard.hpp"
#include "src/picture/file_facts.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/io.hpp"
#include "src/picture/samples.hpp"

namespace convfilt {
namespace {

std::string shown_in(const std::string& path) {
  const std::string name = printable_name(path);
  return path == "-" ? "standard input" : "'" + name + "'";
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw IoError("cannot read " + shown_in(path) + ": " + why);
}

[[noreturn]] void fail_system(const std::string& path, int error) {
  const char* remedy = error == ENOENT || error == ENOTDIR ? "; check its name and folder"
                       : error == EACCES                   ? "; change its permissions"
                                                           : "";
  fail(path, std::strerror(error) + std::string(remedy));
}

std::vector<unsigned char> read_bytes(const std::string& path) {
  const bool from_stdin = path == "-";
  const int fd = from_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_system(path, errno);
  struct Closer {
    int fd;
    bool active;
    ~Closer() {
      if (active) ::close(fd);
    }
  } closer{fd, !from_stdin};

  struct stat info {};
  if (::fstat(fd, &info) != 0) fail_system(path, errno);
  if (S_ISDIR(info.st_mode)) fail(path, "it is a folder; name a picture in it");

  // Room for all of a regular file, the byte that finds its end, and what inspect() appends.
  constexpr std::size_t kMost = INT32_MAX, kSpare = 16, kStep = std::size_t{1} << 20;
  std::vector<unsigned char> bytes;
  const auto refuse_huge = [&] {
    fail(path, "it is larger than OpenCV decodes (files of less than 2 GiB); convert it first");
  };
  // The size is checked before memory is taken, because a huge sparse file costs nothing to make.
  if (S_ISREG(info.st_mode) && info.st_size > off_t(kMost - kSpare)) refuse_huge();
  if (S_ISREG(info.st_mode)) bytes.reserve(static_cast<std::size_t>(info.st_size) + kSpare);
  std::size_t filled = 0;
  while (true) {
    bytes.resize(std::max(filled + kStep, std::min(bytes.capacity(), filled + 64 * kStep)));
    const ssize_t got = ::read(fd, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_system(path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    if (filled > kMost - kSpare) refuse_huge();
  }
  bytes.resize(filled);
  if (bytes.empty()) fail(path, "it is empty");
  return bytes;
}

[[noreturn]] void fail_too_large(const std::string& path, std::int64_t width, std::int64_t height,
                                 std::int64_t max_pixels) {
  fail(path, "its header promises " + std::to_string(width) + "x" + std::to_string(height) +
                 " pixels, more than the limit of " + std::to_string(max_pixels) +
                 "; raise it with --max-pixels if you trust the file");
}

/// OpenCV reads some formats from files only. It would make one in the temporary folder, and forget
/// it there when the picture is refused; one in memory goes when its descriptor does.
cv::Mat decode_as_file(const std::vector<unsigned char>& bytes) {
  const int fd = ::memfd_create("convfilt", MFD_CLOEXEC);
  if (fd < 0) return cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  cv::Mat pixels;
  try {
    const std::string name = "/proc/self/fd/" + std::to_string(fd);
    write_file(name, bytes);
    pixels = cv::imread(name, cv::IMREAD_UNCHANGED);
  } catch (...) {
    ::close(fd);
    throw;
  }
  ::close(fd);
  return pixels;
}

/// What a damaged file still gives, in a picture that was `filling` everywhere before; empty when
/// OpenCV throws. It drops its picture when a codec fails, but the rows it decoded stay in the
/// memory that it was handed.
cv::Mat decode_into(const std::vector<unsigned char>& bytes, cv::Size size, int type,
                    unsigned char filling) {
  cv::Mat kept(size, type);
  std::memset(kept.data, filling, kept.total() * kept.elemSize());
  cv::Mat handed = kept;
  const CodecGuard guard;
  try {
    const cv::Mat decoded = cv::imdecode(bytes, cv::IMREAD_UNCHANGED, &handed);
    if (!decoded.empty()) return decoded;
  } catch (const cv::Exception&) {
    return {};
  }
  return kept;
}

bool all_bytes_are(const cv::Mat& pixels, unsigned char value) {
  const unsigned char* begin = pixels.data;
  return std::all_of(begin, begin + pixels.total() * pixels.elemSize(),
                     [value](unsigned char byte) { return byte == value; });
}

/// Decodes what a damaged file still gives and leaves the rest black; empty when it gives nothing.
cv::Mat salvage(FormatId format, const std::vector<unsigned char>& bytes, cv::Size size, int type) {
  if (size.empty() || format == FormatId::hdr || format == FormatId::exr) return {};
  cv::Mat kept = decode_into(bytes, size, type, 0);
  // A black picture may be what the file says, or memory that no row was written to.
  if (!kept.empty() && all_bytes_are(kept, 0) &&
      all_bytes_are(decode_into(bytes, size, type, 0xff), 0xff))
    return {};
  return kept;
}

struct Decoded {
  cv::Mat pixels;
  std::string damage;  ///< empty when the codec found none
};

Decoded decode(const std::string& path, FormatId format, const std::vector<unsigned char>& bytes,
               const ReadOptions& options) {
  Decoded result;
  const WriteSignalsBlocked blocked;  // for formats that are read by way of a file in memory
  CodecGuard guard(options.max_pixels);
  const auto refuse = [&] {
    fail_too_large(path, guard.size().width, guard.size().height, options.max_pixels);
  };
  try {
    const bool from_file =
        format == FormatId::pfm || format == FormatId::hdr || format == FormatId::exr;
    result.pixels = from_file ? decode_as_file(bytes) : cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  } catch (const cv::Exception& error) {
    if (guard.refused()) refuse();
    if (error.err.find("CV_IO_MAX_IMAGE") != error.err.npos) {
      fail(path, "it is larger than OpenCV decodes (2^20 pixels a side, 2^30 in all)");
    }
    if (error.code == cv::Error::StsNoMem) fail(path, "not enough memory for its pixels");
    if (format == FormatId::exr) {
      fail(path, "OpenCV reads OpenEXR only with OPENCV_IO_ENABLE_OPENEXR=1 in the environment");
    }
    result.damage = damage_in(cause_in(error.what()));
  } catch (const std::bad_alloc&) {
    fail(path, "not enough memory for its pixels");
  }
  if (guard.refused()) refuse();

  const std::string cause = cause_in(guard.printed());
  if (!guard.tiff_error().empty()) {
    result.damage = damage_in(guard.tiff_error());
  } else if (result.pixels.empty()) {
    if (!cause.empty()) result.damage = damage_in(cause);
    if (result.damage.empty()) result.damage = damage_in("the decoder gave up");
  } else if (format == FormatId::jpeg && !cause.empty() &&
             cause.find("JFIF revision") == cause.npos && cause.find("Adobe") == cause.npos) {
    result.damage = damage_in(cause);  // all that libjpeg prints beside these two is about damage
  }
  if (result.pixels.empty() && !options.refuse_damaged) {
    result.pixels = salvage(format, bytes, guard.size(), guard.type());
  }
  return result;
}

/// The pixels in a channel count and depth that Image takes.
cv::Mat as_ours(cv::Mat pixels, std::vector<std::string>* warnings) {
  if (pixels.channels() == 2) {  // grey with alpha
    cv::Mat bgra(pixels.size(), CV_MAKETYPE(pixels.depth(), 4));
    const int from_to[] = {0, 0, 0, 1, 0, 2, 1, 3};
    cv::mixChannels(&pixels, 1, &bgra, 1, from_to, 4);
    pixels = bgra;
  }
  double scale = 0;
  switch (pixels.depth()) {
    case CV_8S: scale = 1.0 / INT8_MAX; break;
    case CV_16S: scale = 1.0 / INT16_MAX; break;
    case CV_32S: scale = 1.0 / INT32_MAX; break;
    case CV_64F: scale = 1; break;
    default: return pixels;
  }
  warnings->push_back(pixels.depth() == CV_64F ? "its 64-bit samples become 32-bit floats"
                                               : "its signed samples become floats, full range 1");
  cv::Mat result;
  pixels.convertTo(result, CV_32F, scale);
  return result;
}

cv::Mat corrected(cv::Mat pixels, const FileFacts& facts) {
  if (facts.drop_alpha && pixels.channels() == 4) {
    cv::Mat colours(pixels.size(), CV_MAKETYPE(pixels.depth(), 3));
    const int from_to[] = {0, 0, 1, 1, 2, 2};
    cv::mixChannels(&pixels, 1, &colours, 1, from_to, 3);
    pixels = colours;
  }
  if (facts.swap_red_blue && pixels.channels() >= 3) {
    cv::Mat swapped(pixels.size(), pixels.type());
    const int from_to[] = {0, 2, 1, 1, 2, 0, 3, 3};
    cv::mixChannels(&pixels, 1, &swapped, 1, from_to, static_cast<std::size_t>(pixels.channels()));
    pixels = swapped;
  }
  if (facts.scale != 1) pixels.convertTo(pixels, -1, facts.scale);
  if (facts.invert) cv::bitwise_not(pixels, pixels);
  if (facts.premultiplied && pixels.channels() == 4) unpremultiply(&pixels);
  return upright(pixels, facts.orientation);
}

}  // namespace

Image read_image(const std::string& path, const ReadOptions& options,
                 std::vector<std::string>* warnings) {
  std::vector<unsigned char> bytes = read_bytes(path);
  FormatId format;
  if (!sniff(bytes, &format)) {
    fail(path,
         "not a picture of a known format (JPEG, PNG, TIFF, WebP, BMP, PNM, PAM, PFM, "
         "JPEG 2000, Radiance HDR, OpenEXR)");
  }
  FileFacts facts = inspect(format, &bytes);
  if (!facts.refusal.empty()) fail(path, facts.refusal);
  if (facts.height > 0 && facts.width > options.max_pixels / facts.height) {
    fail_too_large(path, facts.width, facts.height, options.max_pixels);
  }

  const std::string name(name_of(format));
  Decoded decoded = decode(path, format, bytes, options);
  const std::string damage = facts.damage.empty() ? decoded.damage : facts.damage;
  if (!damage.empty()) {
    if (options.refuse_damaged) {
      fail(path, damage + "; --on-damage=warn takes what can be read");
    }
    if (decoded.pixels.empty()) fail(path, "nothing of this " + name + " can be read: " + damage);
    facts.warnings.push_back(damage + "; read as far as possible");
  }
  try {
    Image image(corrected(as_ours(decoded.pixels, &facts.warnings), facts));
    if (warnings) {
      for (const std::string& warning : facts.warnings) {
        warnings->push_back(shown_in(path) + ": " + warning);
      }
    }
    return image;
  } catch (const std::bad_alloc&) {
    fail(path, "not enough memory for its pixels");
  } catch (const cv::Exception& error) {
    fail(path, cause_in(error.what()));
  } catch (const std::invalid_argument& error) {
    fail(path, error.what());
  }
}

}  // namespace convfilt
