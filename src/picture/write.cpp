#include <new>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/codec_guard.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/io.hpp"
#include "src/picture/samples.hpp"
#include "src/picture/tiff_tags.hpp"

namespace convfilt {
namespace {

std::string shown_out(const std::string& path) {
  const std::string name = printable_name(path);
  return path == "-" ? "standard output" : "'" + name + "'";
}

const Format& format_for(const std::string& path, const WriteOptions& options) {
  const bool said = !options.format.empty();
  const std::string extension = said ? options.format : path == "-" ? "" : extension_of(path);
  if (extension.empty()) {
    throw UsageError("cannot tell the format of " + shown_out(path) +
                     ": name it with --format, one of: " + known_extensions());
  }
  if (const Format* format = find_format(extension)) return *format;
  const std::string nearest = nearest_extension(extension);
  throw UsageError(
      (said ? "unknown format " + in_quotes(extension)
            : "unknown extension " + in_quotes("." + extension) + " of " + shown_out(path)) +
      (nearest.empty() ? ";" : "; did you mean '" + nearest + "'?") +
      " known: " + known_extensions());
}

Depth nearest_depth(const Format& format, Depth depth) {
  if (format.holds(depth)) return depth;
  for (const Depth deepest : {Depth::f32, Depth::u16, Depth::u8}) {
    if (format.holds(deepest)) return deepest;
  }
  return Depth::u8;
}

/// The pixels as the format can hold them; every change that loses something adds a warning.
cv::Mat fitted(const std::string& path, const Image& image, const Format& format,
               std::vector<std::string>* warnings) {
  const std::string name(format.name);
  cv::Mat pixels = image.mat();
  if (image.channels() > 1 && !format.colour) {
    throw UsageError("cannot write " + shown_out(path) + ": " + name +
                     " holds grey pictures only; name it .ppm or .png to keep the colours");
  }
  if (image.has_alpha() && !format.alpha) {
    pixels = flattened_onto_white(pixels);
    warnings->push_back(shown_out(path) + ": " + name +
                        " has no alpha; the picture is laid on white");
  }
  if (const Depth depth = nearest_depth(format, image.depth()); depth != image.depth()) {
    pixels = to_depth(pixels, depth);
    if (size_of(depth) < size_of(image.depth())) {
      warnings->push_back(shown_out(path) + ": " + name + " has no " +
                          std::string(name_of(image.depth())) + " samples; they become " +
                          std::string(name_of(depth)));
    }
  }
  if (pixels.channels() == 1 && !format.grey) cv::cvtColor(pixels, pixels, cv::COLOR_GRAY2BGR);
  if (format.id == FormatId::pam && pixels.channels() >= 3) {
    // OpenCV writes PAM without turning its BGR into the format's RGB.
    cv::Mat rgb;  // a copy, since `pixels` may still be the caller's
    cv::cvtColor(pixels, rgb, pixels.channels() == 4 ? cv::COLOR_BGRA2RGBA : cv::COLOR_BGR2RGB);
    pixels = rgb;
  }
  return pixels;
}

std::vector<int> parameters(const Format& format, const cv::Mat& pixels,
                            const std::optional<int>& quality) {
  switch (format.id) {
    case FormatId::jpeg:
      if (quality) return {cv::IMWRITE_JPEG_QUALITY, *quality};
      return {};
    case FormatId::webp:
      if (quality) return {cv::IMWRITE_WEBP_QUALITY, *quality};
      return {};
    case FormatId::tiff:
      // OpenCV's default for floats is LogLuv, which loses most of their bits.
      if (pixels.depth() == CV_32F) return {cv::IMWRITE_TIFF_COMPRESSION, 1 /* none */};
      return {};
    case FormatId::jp2: return {cv::IMWRITE_JPEG2000_COMPRESSION_X1000, 1000 /* lossless */};
    case FormatId::pam:
      if (pixels.channels() == 1)
        return {cv::IMWRITE_PAM_TUPLETYPE, cv::IMWRITE_PAM_FORMAT_GRAYSCALE};
      return {cv::IMWRITE_PAM_TUPLETYPE, pixels.channels() == 4 ? cv::IMWRITE_PAM_FORMAT_RGB_ALPHA
                                                                : cv::IMWRITE_PAM_FORMAT_RGB};
    default: return {};
  }
}

std::vector<unsigned char> encode(const std::string& path, const Format& format,
                                  const cv::Mat& pixels, const std::optional<int>& quality) {
  const WriteSignalsBlocked blocked;  // for formats that go through a temporary file
  std::vector<unsigned char> bytes;
  std::string why;
  CodecGuard guard;
  try {
    const std::string extension = std::string(".").append(format.extension());
    if (!cv::imencode(extension, pixels, bytes, parameters(format, pixels, quality))) bytes.clear();
    // OpenCV does not notice when the temporary folder is full.
    if (format.through_file && !bytes.empty()) {
      const cv::Mat back = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
      if (back.size() != pixels.size() || back.depth() != pixels.depth()) {
        why = "it came out damaged; is the temporary folder full?";
        bytes.clear();
      }
    }
  } catch (const cv::Exception& error) {
    why = cause_in(error.what());
    bytes.clear();
  } catch (const std::bad_alloc&) {
    why = "not enough memory";
    bytes.clear();
  }
  if (!bytes.empty()) return bytes;
  if (const std::string cause = cause_in(guard.printed()); !cause.empty()) why = cause;
  throw IoError("cannot encode " + std::to_string(pixels.cols) + "x" + std::to_string(pixels.rows) +
                " pixels as " + std::string(format.name) + " for " + shown_out(path) +
                (why.empty() ? "" : ": " + why) + "; choose another format, such as png");
}

}  // namespace

void check_output(const std::string& in, const std::string& out, const WriteOptions& options,
                  bool in_place) {
  format_for(out, options);
  if (options.quality && (*options.quality < 0 || *options.quality > 100)) {
    throw UsageError("--quality is 0 to 100, not " + std::to_string(*options.quality));
  }
  if (!in_place && same_file(in, out)) {
    throw UsageError("input and output are the same file, " + shown_out(out) +
                     "; --in-place replaces it");
  }
  if (out != "-") check_writable(out);
}

void write_image(const std::string& path, const Image& image, const WriteOptions& options,
                 std::vector<std::string>* warnings) {
  const Format& format = format_for(path, options);
  std::vector<std::string> notes;
  if (options.quality && !format.quality) {
    notes.push_back(shown_out(path) + ": " + std::string(format.name) + " has no quality to set");
  }
  const Format* named = path == "-" ? nullptr : find_format(extension_of(path));
  if (named && named->id != format.id) {
    notes.push_back(shown_out(path) + ": written as " + std::string(format.name) +
                    ", as --format says, though its name ends in ." + extension_of(path));
  }
  std::vector<unsigned char> bytes;
  {
    cv::Mat pixels;
    try {
      pixels = fitted(path, image, format, &notes);
    } catch (const cv::Exception& error) {
      if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
      throw;
    }
    bytes = encode(path, format, pixels, options.quality);
    if (format.id == FormatId::tiff && pixels.channels() == 4) mark_alpha_as_straight(&bytes);
  }
  if (path == "-")
    write_stdout(bytes);
  else
    write_file(path, bytes);
  if (warnings) warnings->insert(warnings->end(), notes.begin(), notes.end());
}

}  // namespace convfilt
