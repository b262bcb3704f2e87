/// OpenCV's codecs: of BMP, Radiance HDR, JPEG 2000 and OpenEXR; and with --loader=opencv, as a
/// witness, of every format that OpenCV knows.
#include <sys/mman.h>
#include <tiff.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>
#ifdef CONVFILT_HAS_OPENJPEG
#include <openjpeg.h>
#endif

#include "src/base/atomic_file.hpp"
#include "src/base/descriptor.hpp"
#include "src/picture/codecs/parts.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/modules.hpp"
#include "src/picture/modules/file_facts.hpp"
#include "src/picture/samples.hpp"

namespace convfilt {
namespace {

/// The cause in the text of an exception, in one short line.
std::string cause_in(const cv::Exception& error) {
  std::string cause = error.err;
  for (char& c : cause) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  constexpr std::size_t kLongest = 160;
  if (cause.size() > kLongest) cause.resize(kLongest);
  return cause;
}

/// OpenCV reads some formats from files only. It would make one in the temporary folder, and forget
/// it there when the picture is refused; one in memory goes when its descriptor does.
cv::Mat decode_as_file(const Bytes& bytes) {
  const Descriptor file(::memfd_create("convfilt", MFD_CLOEXEC));
  if (file.get() < 0) return cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  if (!write_at(file.get(), 0, bytes)) throw std::bad_alloc();
  return cv::imread("/proc/self/fd/" + std::to_string(file.get()), cv::IMREAD_UNCHANGED);
}

cv::Mat decode_bytes(FormatId format, const Bytes& bytes) {
  const WriteSignalsBlocked blocked;  // for formats that are read by way of a file in memory
  const bool from_file =
      format == FormatId::pfm || format == FormatId::hdr || format == FormatId::exr;
  return from_file ? decode_as_file(bytes) : cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
}

/// Pixels of other channels, each of which is the one of `pixels` with that number.
cv::Mat with_channels(const cv::Mat& pixels, const std::vector<int>& numbers) {
  cv::Mat result(pixels.size(), CV_MAKETYPE(pixels.depth(), int(numbers.size())));
  for (int to = 0; to < result.channels(); ++to)
    cv::mixChannels(pixels, result, {numbers[std::size_t(to)], to});
  return result;
}

/// The pixels in a channel count and depth that a header can say.
cv::Mat as_ours(cv::Mat pixels, ReadContext& context) {
  if (pixels.channels() == 2) pixels = with_channels(pixels, {0, 0, 0, 1});  // grey with alpha
  double scale = 0;
  switch (pixels.depth()) {
    case CV_8S: scale = 1.0 / INT8_MAX; break;
    case CV_16S: scale = 1.0 / INT16_MAX; break;
    case CV_32S: scale = 1.0 / INT32_MAX; break;
    case CV_64F: scale = 1; break;
    default: return pixels;
  }
  context.warn(pixels.depth() == CV_64F ? "its 64-bit samples become 32-bit floats"
                                        : "its signed samples become floats, full range 1");
  cv::Mat result;
  pixels.convertTo(result, CV_32F, scale);
  return result;
}

Depth depth_of(const cv::Mat& pixels) {
  return pixels.depth() == CV_8U ? Depth::u8 : pixels.depth() == CV_16U ? Depth::u16 : Depth::f32;
}

PictureView<std::byte> view_of(cv::Mat& pixels) {
  return {reinterpret_cast<std::byte*>(pixels.data), pixels.cols, pixels.rows, pixels.channels(),
          std::ptrdiff_t(pixels.step[0])};
}

cv::Mat corrected(cv::Mat pixels, FormatId format, const FileFacts& facts) {
  if (facts.drop_alpha && pixels.channels() == 4) pixels = with_channels(pixels, {0, 1, 2});
  // OpenCV leaves the colours of PAM in the wrong order.
  const bool is_pam = format == FormatId::pam;
  if (is_pam && pixels.channels() == 3) pixels = with_channels(pixels, {2, 1, 0});
  if (is_pam && pixels.channels() == 4) pixels = with_channels(pixels, {2, 1, 0, 3});
  if (facts.scale != 1) pixels.convertTo(pixels, -1, facts.scale);
  if (facts.invert) cv::bitwise_not(pixels, pixels);
  const bool is_premultiplied = facts.premultiplied || format == FormatId::exr;
  if (is_premultiplied && pixels.channels() == 4) unpremultiply(view_of(pixels), depth_of(pixels));
  return pixels;
}

/// Decodes when it is opened: only decoded pixels tell which channels and depth OpenCV gives.
class OpencvReader : public WholeReader {
 public:
  OpencvReader(ByteSource& source, ReadContext& context)
      : WholeReader(source, context, format_of(source, context.name())) {
    const FormatId format = header_.format;
    // OpenCV counts bytes in an int, and inspect() appends some.
    constexpr std::uint64_t kMost = INT32_MAX - 16;
    if (source.size() > kMost)
      context.fail("it is larger than OpenCV decodes (files of less than 2 GiB); convert it first");
    // Where the program has a codec, that one has read the header before.
    const bool is_only_here = !format_of(format).module.empty();
    if (is_only_here) context.admit(file_bytes_);
    Bytes bytes(std::size_t(source.size()));
    bytes.resize(source.read(0, bytes));
    const FileFacts facts = inspect(format, &bytes, context);
    if (facts.width > 0 || facts.height > 0) check_size(facts);
    if (!facts.damage.empty()) {
      if (facts.is_lost) give_up(facts.damage);
      if (context.options().refuse_damaged) context.damaged(facts.damage);
    }
    if (is_only_here) admit(facts, source.size());
    if (!facts.damage.empty()) complete(format, facts, &bytes);
    pixels_ = decode_checked(bytes, facts);
    header_.width = pixels_.cols;
    header_.height = pixels_.rows;
    header_.channels = pixels_.channels();
    header_.depth = depth_of(pixels_);
    if (format == FormatId::exr || format == FormatId::hdr)
      header_.metadata.label.codes = ColourLabel::kLinear;
    if (!facts.damage.empty()) context.damaged(facts.damage);
  }

  std::int64_t held_bytes() const override { return bytes_of(header_); }

 protected:
  void decode() override {}

  void copy_row(int y, std::byte* to) const override {
    std::memcpy(to, pixels_.ptr(y), pixels_.elemSize() * std::size_t(pixels_.cols));
  }

 private:
  void check_size(const FileFacts& facts) const {
    constexpr std::int64_t kOpencvSide = 1 << 20, kOpencvPixels = 1 << 30;
    context_.check_size(facts.width, facts.height);
    if (facts.width > kOpencvSide || facts.height > kOpencvSide ||
        facts.width > kOpencvPixels / facts.height)
      context_.fail("it is larger than OpenCV decodes (2^20 pixels a side, 2^30 in all)");
  }

  /// Asks for all that decoding is going to take.
  void admit(const FileFacts& facts, std::uint64_t file_bytes) {
    header_.width = int(facts.width);
    header_.height = int(facts.height);
    const std::uint64_t bytes =
        std::uint64_t(facts.width) * std::uint64_t(facts.height) *
            std::uint64_t(facts.bytes_a_pixel) +
        std::uint64_t(facts.copies) * std::max(file_bytes, facts.whole_size);
    context_.check_plausible(header_, bytes, file_bytes);
    context_.admit(std::int64_t(bytes));
  }

  cv::Mat decode_checked(const Bytes& bytes, const FileFacts& facts) {
    std::string why = "the decoder gave up";
    try {
      const cv::Mat decoded = decode_bytes(header_.format, bytes);
      if (!decoded.empty()) {
        context_.check_size(decoded.cols, decoded.rows);
        return corrected(as_ours(decoded, context_), header_.format, facts);
      }
    } catch (const cv::Exception& error) {
      if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
      if (header_.format == FormatId::exr && error.err.find("OPENEXR") != error.err.npos) {
        context_.fail(
            "OpenCV reads OpenEXR only with OPENCV_IO_ENABLE_OPENEXR=1 in the environment");
      }
      why = cause_in(error);
    }
    if (format_of(header_.format).module.empty())
      context_.fail("OpenCV does not read it (" + why + "); leave out --loader=opencv");
    give_up(facts.damage.empty()
                ? "its data is damaged, or of a kind that OpenCV does not read (" + why + ")"
                : facts.damage);
  }

  cv::Mat pixels_;
};

#ifdef CONVFILT_HAS_OPENJPEG
/// OpenCV has OpenJPEG halve a picture five times, which one of a side below 32 refuses. The result
/// is empty where OpenJPEG fails.
Bytes small_jp2(const Image& image) {
  const bool is_wide = image.depth() == Depth::u16;
  opj_cparameters_t how;
  opj_set_default_encoder_parameters(&how);
  how.tcp_numlayers = how.cp_disto_alloc = how.numresolution = 1;
  how.tcp_mct = image.channels() >= 3;
  opj_image_cmptparm_t plane{};
  plane.dx = plane.dy = 1;
  plane.w = OPJ_UINT32(image.width());
  plane.h = OPJ_UINT32(image.height());
  plane.prec = is_wide ? 16 : 8;
  std::vector<opj_image_cmptparm_t> planes(std::size_t(image.channels()), plane);
  const std::unique_ptr<opj_image_t, Destroy<opj_image_destroy>> from(
      opj_image_create(OPJ_UINT32(planes.size()), planes.data(),
                       image.channels() == 1 ? OPJ_CLRSPC_GRAY : OPJ_CLRSPC_SRGB));
  const std::unique_ptr<opj_codec_t, Destroy<opj_destroy_codec>> codec(
      opj_create_compress(OPJ_CODEC_JP2));
  const std::unique_ptr<opj_stream_t, Destroy<opj_stream_destroy>> stream(
      opj_stream_default_create(OPJ_FALSE));
  if (!from || !codec || !stream) throw std::bad_alloc();
  from->x1 = plane.w;
  from->y1 = plane.h;
  if (image.channels() == 4) from->comps[3].alpha = 1;
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    for (int y = 0; y < image.height(); ++y) {
      const T* sample = reinterpret_cast<const T*>(image.view().row(y));
      for (int x = 0; x < image.width(); ++x)
        for (int c = 0; c < image.channels(); ++c, ++sample) {
          const int to = c < 3 && image.channels() >= 3 ? 2 - c : c;  // BGR becomes RGB
          from->comps[to].data[std::ptrdiff_t(y) * image.width() + x] = OPJ_INT32(*sample);
        }
    }
  });

  struct Written {
    Bytes bytes;
    std::size_t at = 0;
  } to;
  // Nothing is allocated, or thrown, within OpenJPEG.
  to.bytes.reserve((std::size_t{1} << 16) + 2 * std::size_t(image.height()) * image.row_bytes());
  opj_stream_set_user_data(stream.get(), &to, nullptr);
  opj_stream_set_write_function(stream.get(), [](void* bytes, OPJ_SIZE_T count, void* user) {
    Written& all = *static_cast<Written*>(user);
    if (count > all.bytes.capacity() - all.at) return OPJ_SIZE_T(-1);
    all.bytes.resize(std::max(all.bytes.size(), all.at + count));
    std::memcpy(all.bytes.data() + all.at, bytes, count);
    all.at += count;
    return count;
  });
  opj_stream_set_seek_function(stream.get(), [](OPJ_OFF_T at, void* user) -> OPJ_BOOL {
    Written& all = *static_cast<Written*>(user);
    if (at < 0 || std::size_t(at) > all.bytes.size()) return OPJ_FALSE;
    all.at = std::size_t(at);
    return OPJ_TRUE;
  });
  opj_stream_set_skip_function(stream.get(), [](OPJ_OFF_T count, void* user) -> OPJ_OFF_T {
    Written& all = *static_cast<Written*>(user);
    if (count < 0 || std::size_t(count) > all.bytes.capacity() - all.at) return -1;
    all.at += std::size_t(count);
    all.bytes.resize(std::max(all.bytes.size(), all.at));
    return count;
  });
  const bool done = opj_setup_encoder(codec.get(), &how, from.get()) &&
                    opj_start_compress(codec.get(), from.get(), stream.get()) &&
                    opj_encode(codec.get(), stream.get()) &&
                    opj_end_compress(codec.get(), stream.get());
  return done ? std::move(to.bytes) : Bytes();
}
#endif

/// Bytes that OpenCV takes for each sample, beside its pictures.
int bytes_a_sample_of(FormatId format) {
  switch (format) {
    case FormatId::jp2: return 9;
    case FormatId::hdr: return 5;
    case FormatId::exr: return 3;
    default: return 1;
  }
}

class OpencvWriter : public WholeWriter {
 public:
  OpencvWriter(ByteSink& sink, const Header& header, const WriteOptions& options)
      : WholeWriter(sink, header), options_(options) {
    library_bytes_ = bytes_a_sample_of(header_.format) * samples_of(header_);
  }

  void finish() override {
    Bytes bytes;
    try {
      bytes = encoded();
    } catch (const cv::Exception& error) {
      if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
      fail(cause_in(error));
    }
    sink_.append(bytes);
    if (header_.format == FormatId::tiff && header_.channels == 4) mark_alpha_as_straight();
  }

 protected:
  void put_row(int y, const std::byte* from) override {
    std::byte* const to = image_.view().row(y);
    // OpenCV writes PAM without turning its BGR into the format's RGB.
    if (header_.format == FormatId::pam)
      copy_row_reversed(from, to, header_);
    else
      WholeWriter::put_row(y, from);
    // The colours of OpenEXR are multiplied by alpha, and those of Radiance HDR are not negative.
    float* const samples = reinterpret_cast<float*>(to);
    const std::ptrdiff_t count = std::ptrdiff_t(header_.width) * header_.channels;
    if (header_.format == FormatId::exr && header_.channels == 4)
      for (std::ptrdiff_t i = 0; i < count; ++i)
        if (i % 4 != 3) samples[i] *= samples[i / 4 * 4 + 3];
    if (header_.format != FormatId::hdr) return;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      if (samples[i] >= 0) continue;
      samples[i] = 0;
      if (warnings_.empty() || warnings_.back() != kNoNegative) warnings_.push_back(kNoNegative);
    }
  }

 private:
  static constexpr const char* kNoNegative =
      "Radiance HDR has no samples below 0, and no NaN; they become 0";

  /// OpenCV leaves the mark out. Without it some programs drop the channel, and others take the
  /// colours for premultiplied.
  void mark_alpha_as_straight() {
    TiffArea order(true, false);  // as OpenCV writes it
    add_entries(sink_, {{order.entry(order.number_value(TIFFTAG_EXTRASAMPLES, TIFF_SHORT,
                                                        EXTRASAMPLE_UNASSALPHA))}});
  }

  Bytes encoded() const {
#ifdef CONVFILT_HAS_OPENJPEG
    constexpr int kSmallSide = 32;
    if (header_.format == FormatId::jp2 && std::min(header_.width, header_.height) < kSmallSide) {
      Bytes small = small_jp2(image_);
      if (small.empty()) fail("OpenJPEG gives no reason");
      return small;
    }
#endif
    const WriteSignalsBlocked blocked;  // for formats that go through a temporary file
    const int depth = header_.depth == Depth::u8    ? CV_8U
                      : header_.depth == Depth::u16 ? CV_16U
                                                    : CV_32F;
    const cv::Mat pixels(header_.height, header_.width, CV_MAKETYPE(depth, header_.channels),
                         const_cast<std::byte*>(image_.view().data));  // imencode() only reads
    const Format& format = format_of(header_.format);
    Bytes bytes;
    if (!cv::imencode("." + std::string(format.extension()), pixels, bytes, parameters()) ||
        bytes.empty())
      fail("");
    // OpenCV does not notice when the temporary folder is full.
    if (format.through_file) {
      const cv::Mat back = decode_bytes(header_.format, bytes);
      if (back.size() != pixels.size() || back.depth() != pixels.depth())
        fail("it came out damaged; is the temporary folder full?");
    }
    return bytes;
  }

  std::vector<int> parameters() const {
    switch (header_.format) {
      case FormatId::jpeg:
        return {cv::IMWRITE_JPEG_QUALITY,     options_.quality.value_or(95),
                cv::IMWRITE_JPEG_PROGRESSIVE, options_.progressive,
                cv::IMWRITE_JPEG_OPTIMIZE,    options_.optimize};
      case FormatId::png:
        if (options_.compression) return {cv::IMWRITE_PNG_COMPRESSION, *options_.compression};
        return {};
      case FormatId::webp:
        if (options_.quality) return {cv::IMWRITE_WEBP_QUALITY, *options_.quality};
        return {};
      case FormatId::tiff:
        // OpenCV's default for floats is LogLuv, which loses most of their bits.
        if (header_.depth == Depth::f32) return {cv::IMWRITE_TIFF_COMPRESSION, 1 /* none */};
        return {};
      case FormatId::jp2: return {cv::IMWRITE_JPEG2000_COMPRESSION_X1000, 1000 /* lossless */};
      case FormatId::pam:
        return {cv::IMWRITE_PAM_TUPLETYPE, header_.channels == 1 ? cv::IMWRITE_PAM_FORMAT_GRAYSCALE
                                           : header_.channels == 4
                                               ? cv::IMWRITE_PAM_FORMAT_RGB_ALPHA
                                               : cv::IMWRITE_PAM_FORMAT_RGB};
      default: return {};
    }
  }

  const WriteOptions options_;
};

}  // namespace
}  // namespace convfilt

extern "C" const convfilt::CodecModule* module_of_convfilt() {
  static constexpr convfilt::CodecModule kModule{
      convfilt::kModuleInterface,
      {convfilt::open_with<convfilt::OpencvReader>, convfilt::create_with<convfilt::OpencvWriter>}};
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  return &kModule;
}
