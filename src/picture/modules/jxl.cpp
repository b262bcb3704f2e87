/// JPEG XL, by libjxl.
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/parallel_runner.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "src/base/source_text.hpp"
#include "src/picture/codecs/parts.hpp"
#include "src/picture/modules.hpp"

namespace convfilt {
namespace {

using Decoder = std::unique_ptr<JxlDecoder, Destroy<JxlDecoderDestroy>>;
using Encoder = std::unique_ptr<JxlEncoder, Destroy<JxlEncoderDestroy>>;

/// Calls a function of libjxl that had one more parameter, of no use, before 0.9.
template <class Function, class... Rest>
JxlDecoderStatus ask(Function function, const JxlDecoder& decoder, Rest... rest) {
  if constexpr (std::is_invocable_v<Function, const JxlDecoder*, Rest...>)
    return function(&decoder, rest...);
  else
    return function(&decoder, nullptr, rest...);
}

decltype(&cpu::parallel_for) parallel_for = nullptr;  // the program's

int threads_for(int pieces) {
  return std::clamp(int(std::thread::hardware_concurrency()), 1, std::max(pieces, 1));
}

/// Does libjxl's work on the program's threads. Its own runner ends the program where the system
/// gives it too few threads.
JxlParallelRetCode run_parallel(void*, void* work, JxlParallelRunInit begin,
                                JxlParallelRunFunction work_on, std::uint32_t first,
                                std::uint32_t last) {
  const int count = int(last - first);
  const int threads = threads_for(count);
  if (count == 0) return 0;
  if (const int failure = begin(work, std::size_t(threads))) return failure;
  try {
    parallel_for(count, threads, [&](int worker, int i) {
      work_on(work, first + std::uint32_t(i), std::size_t(worker));
    });
  } catch (const std::exception&) {
    return JXL_PARALLEL_RET_RUNNER_ERROR;
  }
  return 0;
}

JxlPixelFormat pixel_format(const Header& header) {
  const JxlDataType type = header.depth == Depth::u8    ? JXL_TYPE_UINT8
                           : header.depth == Depth::u16 ? JXL_TYPE_UINT16
                                                        : JXL_TYPE_FLOAT;
  return {std::uint32_t(header.channels), type, JXL_NATIVE_ENDIAN, 0};
}

/// The label that says the same; nothing where only a profile does. libjxl numbers curves as H.273.
std::optional<ColourLabel> label_of(const JxlColorEncoding& encoding) {
  const bool is_grey = encoding.color_space == JXL_COLOR_SPACE_GRAY;
  const bool is_gamma = encoding.transfer_function == JXL_TRANSFER_FUNCTION_GAMMA;
  ColourLabel label;
  if (!is_gamma) label.codes = {0, std::uint8_t(encoding.transfer_function)};
  if (is_gamma) label.gamma = std::uint32_t(std::lround(encoding.gamma * 1e5));
  if (is_grey && is_gamma) return label;
  const bool is_dci = encoding.white_point == JXL_WHITE_POINT_DCI;
  const int primaries = is_grey                                  ? ColourLabel::kSrgb.primaries
                        : encoding.primaries == JXL_PRIMARIES_P3 ? (is_dci ? 11 : 12)
                                                                 : int(encoding.primaries);
  const bool is_known = encoding.white_point == JXL_WHITE_POINT_D65 ||
                        (is_dci && encoding.primaries == JXL_PRIMARIES_P3);
  if (!is_gamma) {
    label.codes->primaries = std::uint8_t(primaries);
    return is_known && primaries != JXL_PRIMARIES_CUSTOM ? std::optional(label) : std::nullopt;
  }
  auto& all = label.chromaticities.emplace();
  std::size_t i = 0;
  for (const double* xy : {encoding.white_point_xy, encoding.primaries_red_xy,
                           encoding.primaries_green_xy, encoding.primaries_blue_xy})
    for (int k = 0; k < 2; ++k) {
      if (!(xy[k] >= 0 && xy[k] <= 2)) return std::nullopt;
      all[i++] = std::uint32_t(std::lround(xy[k] * 1e5));
    }
  return label;
}

class JxlReader : public WholeReader {
 public:
  JxlReader(ByteSource& source, ReadContext& context)
      : WholeReader(source, context, FormatId::jxl) {
    context.admit(file_bytes_);
    read_header();
    // Each thread works on a square of its own.
    constexpr int kSquare = 256;
    constexpr std::int64_t kThreadBytes = 1 << 20;
    const int squares =
        ((header_.width + kSquare - 1) / kSquare) * ((header_.height + kSquare - 1) / kSquare);
    library_bytes_ = (header_.depth == Depth::u8 ? 2 : 7) * samples_of(header_) +
                     kThreadBytes * threads_for(squares);
  }

 protected:
  void decode() override {
    const JxlPixelFormat format = pixel_format(header_);
    context_.check_memory(std::uint64_t(bytes_of(header_)));
    pixels_.resize(std::size_t(bytes_of(header_)));
    const Decoder decoder = start(JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE);
    while (true) {
      switch (JxlDecoderProcessInput(decoder.get())) {
        case JXL_DEC_COLOR_ENCODING: choose_space(*decoder); break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
          if (JxlDecoderSetImageOutBuffer(decoder.get(), &format, pixels_.data(), pixels_.size()) !=
              JXL_DEC_SUCCESS)
            context_.fail("libjxl does not give its pixels; convert it first (djxl)");
          break;
        case JXL_DEC_BASIC_INFO: break;
        case JXL_DEC_FULL_IMAGE:
          if (is_animated_) return;
          break;
        case JXL_DEC_SUCCESS: return check_end(*decoder);
        case JXL_DEC_NEED_MORE_INPUT: return take_part(*decoder, cut_at_end());
        default: return take_part(*decoder, data_damaged("libjxl gave up"));
      }
    }
  }

  /// Boxes say how long they are, and read_header() went through them. A bare code stream just
  /// ends.
  void check_end(JxlDecoder& decoder) {
    const std::size_t rest = JxlDecoderReleaseInput(&decoder);
    if (rest > 0 && source_.whole().front() == 0xFF) context_.damaged(bytes_follow(rest));
  }

  void copy_row(int y, std::byte* to) const override {
    copy_row_reversed(pixels_.data() + std::size_t(y) * row_bytes(header_), to, header_);
  }

 private:
  std::string cut_at_end() const {
    return ends_early("after " + std::to_string(source_.size()) + " bytes");
  }

  Decoder start(int events) {
    Decoder decoder(JxlDecoderCreate(nullptr));
    if (!decoder) throw std::bad_alloc();
    const ByteView bytes = source_.whole();
    JxlDecoderSetParallelRunner(decoder.get(), parallel_for ? run_parallel : nullptr, nullptr);
    JxlDecoderSubscribeEvents(decoder.get(), events);
    JxlDecoderSetKeepOrientation(decoder.get(), JXL_TRUE);
    JxlDecoderSetUnpremultiplyAlpha(decoder.get(), JXL_TRUE);
    JxlDecoderSetDecompressBoxes(decoder.get(), JXL_TRUE);
    JxlDecoderSetInput(decoder.get(), bytes.data(), bytes.size());
    return decoder;
  }

  /// A lossy picture holds its colours in XYB, and libjxl lets us choose the space that it converts
  /// them to: the one that the file names, else sRGB. Without a choice it gives linear light if the
  /// file has an ICC profile.
  void choose_space(JxlDecoder& decoder) const {
    JxlColorEncoding space;
    if (ask(JxlDecoderGetColorAsEncodedProfile, decoder, JXL_COLOR_PROFILE_TARGET_ORIGINAL,
            &space) != JXL_DEC_SUCCESS)
      JxlColorEncodingSetToSRGB(&space, is_grey_);
    JxlDecoderSetPreferredColorProfile(&decoder, &space);
  }

  /// Goes through all boxes of the file, but decodes no pixels.
  void read_header() {
    const Decoder decoder = start(JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_BOX);
    bool has_info = false, is_closed = false;
    Bytes box;
    std::string type;
    const auto end_box = [&] {
      if (type.empty()) return;
      box.resize(box.size() - JxlDecoderReleaseBoxBuffer(decoder.get()));
      keep_box(type, box);
      type.clear();
    };
    while (true) {
      switch (JxlDecoderProcessInput(decoder.get())) {
        case JXL_DEC_BASIC_INFO: has_info = take_info(*decoder); break;
        case JXL_DEC_COLOR_ENCODING:
          choose_space(*decoder);
          take_profile(*decoder);
          break;
        case JXL_DEC_BOX: {
          end_box();
          JxlBoxType found;
          JxlDecoderGetBoxType(decoder.get(), found, JXL_TRUE);
          const std::string name(found, sizeof found);
          if (!is_known(name)) context_.leaves_out("its box " + in_quotes(name) + " is not read");
          if (name != "Exif" && name != "xml ") break;
          type = name;
          box.assign(kBoxStep, 0);
          JxlDecoderSetBoxBuffer(decoder.get(), box.data(), box.size());
          break;
        }
        case JXL_DEC_BOX_NEED_MORE_OUTPUT: {
          const std::size_t filled = box.size() - JxlDecoderReleaseBoxBuffer(decoder.get());
          if (filled > kLargestBox) context_.fail("it has more than 256 MiB of metadata");
          context_.admit(file_bytes_ + std::int64_t(3 * box.size()));
          box.resize(2 * box.size());
          JxlDecoderSetBoxBuffer(decoder.get(), box.data() + filled, box.size() - filled);
          break;
        }
        case JXL_DEC_SUCCESS:
          end_box();
          if (!has_info) give_up(cut_at_end());
          return;
        case JXL_DEC_NEED_MORE_INPUT:
          if (!has_info) give_up(cut_at_end());
          if (is_closed) return context_.damaged(cut_at_end());
          // A box may go to the end of the file, which the decoder does not know by itself.
          JxlDecoderCloseInput(decoder.get());
          is_closed = true;
          break;
        default:
          if (!has_info) give_up(data_damaged("libjxl gave up"));
          return context_.damaged(is_closed ? cut_at_end() : data_damaged("libjxl gave up"));
      }
    }
  }

  /// Whether a box is of the picture or its metadata, or free room.
  static bool is_known(std::string_view type) {
    constexpr std::string_view kKnown[] = {"JXL ", "ftyp", "jxll", "jxli", "jxlc", "jxlp", "jbrd",
                                           "Exif", "xml ", "jumb", "brob", "free", "skip"};
    return std::find(std::begin(kKnown), std::end(kKnown), type) != std::end(kKnown);
  }

  bool take_info(const JxlDecoder& decoder) {
    JxlBasicInfo info;
    if (JxlDecoderGetBasicInfo(&decoder, &info) != JXL_DEC_SUCCESS) return false;
    set_size(info.xsize, info.ysize);
    header_.orientation = int(info.orientation);
    is_grey_ = info.num_color_channels == 1;
    header_.channels = info.alpha_bits > 0 ? 4 : is_grey_ ? 1 : 3;
    header_.depth = info.exponent_bits_per_sample > 0 ? Depth::f32
                    : info.bits_per_sample > 8        ? Depth::u16
                                                      : Depth::u8;
    const int others = int(info.num_extra_channels) - (info.alpha_bits > 0 ? 1 : 0);
    if (others > 0)
      context_.leaves_out("its channels beside colours and alpha are not read (" +
                          std::to_string(others) + ")");
    for (std::uint32_t i = 0; i < info.num_extra_channels; ++i) {
      JxlExtraChannelInfo extra;
      if (JxlDecoderGetExtraChannelInfo(&decoder, i, &extra) == JXL_DEC_SUCCESS &&
          extra.type == JXL_CHANNEL_BLACK)
        context_.fail("CMYK JPEG XL is not read; convert it first (djxl)");
    }
    is_animated_ = info.have_animation;
    if (is_animated_)
      context_.leaves_out("only the first of its pictures is read: it is an animated JPEG XL");
    return true;
  }

  /// The label of the pixels that come, else their profile.
  void take_profile(const JxlDecoder& decoder) {
    JxlColorEncoding encoding;
    if (ask(JxlDecoderGetColorAsEncodedProfile, decoder, JXL_COLOR_PROFILE_TARGET_DATA,
            &encoding) == JXL_DEC_SUCCESS) {
      const auto label = label_of(encoding);
      const bool is_whole = header_.depth != Depth::f32;
      if (is_whole && label && label->codes && label->codes->say_nothing(header_.depth)) return;
      if (label) return void(header_.metadata.label = *label);
    }
    std::size_t size = 0;
    if (ask(JxlDecoderGetICCProfileSize, decoder, JXL_COLOR_PROFILE_TARGET_DATA, &size) !=
        JXL_DEC_SUCCESS)
      return;
    header_.metadata.icc.resize(size);
    if (ask(JxlDecoderGetColorAsICCProfile, decoder, JXL_COLOR_PROFILE_TARGET_DATA,
            header_.metadata.icc.data(), size) != JXL_DEC_SUCCESS)
      header_.metadata.icc.clear();
  }

  void keep_box(const std::string& type, ByteView box) {
    Bytes& kept = type == "Exif" ? header_.metadata.exif : header_.metadata.xmp;
    if (type == "Exif") box = exif_in_box(box);
    if (kept.empty()) kept.assign(box.begin(), box.end());
  }

  void take_part(JxlDecoder& decoder, const std::string& damage) {
    if (!context_.options().refuse_damaged && JxlDecoderFlushImage(&decoder) == JXL_DEC_SUCCESS)
      return context_.damaged(damage);
    give_up(damage);
  }

  static constexpr std::size_t kBoxStep = 1 << 16, kLargestBox = std::size_t{1} << 28;

  bool is_grey_ = false, is_animated_ = false;
  std::vector<std::byte> pixels_;  ///< in libjxl's order, RGB
};

/// The distance that cjxl takes for a quality; 0 is lossless.
float distance_of(int quality) {
  if (quality >= 100) return 0;
  if (quality >= 30) return 0.1f + float(100 - quality) * 0.09f;
  return std::min(15.0f, 6.4f + std::pow(2.5f, float(30 - quality) / 5) / 6.25f);
}

class JxlWriter : public WholeWriter {
 public:
  JxlWriter(ByteSink& sink, const Header& header, const WriteOptions& options)
      : WholeWriter(sink, header), distance_(distance_of(options.quality.value_or(100))) {
    library_bytes_ = 22 * samples_of(header_);
  }

  void finish() override {
    const Encoder encoder(JxlEncoderCreate(nullptr));
    if (!encoder) throw std::bad_alloc();
    check(*encoder, JxlEncoderSetParallelRunner(encoder.get(),
                                                parallel_for ? run_parallel : nullptr, nullptr));
    set_info(*encoder);
    set_colours(*encoder);
    const bool has_boxes = !header_.metadata.exif.empty() || !header_.metadata.xmp.empty();
    if (has_boxes) add_boxes(*encoder);
    JxlEncoderFrameSettings* settings = JxlEncoderFrameSettingsCreate(encoder.get(), nullptr);
    if (!settings) throw std::bad_alloc();
    check(*encoder, JxlEncoderSetFrameLossless(settings, distance_ == 0));
    if (distance_ > 0) check(*encoder, JxlEncoderSetFrameDistance(settings, distance_));
    // Each further step costs several times as long and saves a few per cent.
    check(*encoder, JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT,
                                                     distance_ == 0 ? 3 : 5));
    const JxlPixelFormat format = pixel_format(header_);
    check(*encoder, JxlEncoderAddImageFrame(settings, &format, image_.view().data,
                                            std::size_t(bytes_of(header_))));
    JxlEncoderCloseInput(encoder.get());
    drain(*encoder);
  }

 protected:
  void put_row(int y, const std::byte* from) override {
    copy_row_reversed(from, image_.view().row(y), header_);
  }

 private:
  void check(JxlEncoder& encoder, JxlEncoderStatus status) const {
    if (status == JXL_ENC_SUCCESS) return;
    const JxlEncoderError error = JxlEncoderGetError(&encoder);
    if (error == JXL_ENC_ERR_OOM) throw std::bad_alloc();
    fail("libjxl's error " + std::to_string(error));
  }

  void set_info(JxlEncoder& encoder) const {
    JxlBasicInfo info;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = std::uint32_t(header_.width);
    info.ysize = std::uint32_t(header_.height);
    info.bits_per_sample = std::uint32_t(8 * size_of(header_.depth));
    info.exponent_bits_per_sample = header_.depth == Depth::f32 ? 8 : 0;
    info.orientation = JxlOrientation(header_.orientation);
    info.num_color_channels = header_.channels == 1 ? 1 : 3;
    if (header_.channels == 4) {
      info.num_extra_channels = 1;
      info.alpha_bits = info.bits_per_sample;
      info.alpha_exponent_bits = info.exponent_bits_per_sample;
    }
    info.uses_original_profile = distance_ == 0;
    check(encoder, JxlEncoderSetBasicInfo(&encoder, &info));
  }

  void set_colours(JxlEncoder& encoder) const {
    const Bytes& icc = header_.metadata.icc;
    if (!icc.empty()) {
      check(encoder, JxlEncoderSetICCProfile(&encoder, icc.data(), icc.size()));
      return;
    }
    JxlColorEncoding space;
    const bool is_grey = header_.channels == 1;
    JxlColorEncodingSetToSRGB(&space, is_grey);
    const auto codes = header_.metadata.label.codes.value_or(ColourLabel::kSrgb);
    space.transfer_function = JxlTransferFunction(codes.transfer);
    if (codes.primaries == 11) space.white_point = JXL_WHITE_POINT_DCI;
    if (!is_grey && (codes.primaries == 11 || codes.primaries == 12))
      space.primaries = JXL_PRIMARIES_P3;
    else if (!is_grey)
      space.primaries = JxlPrimaries(codes.primaries);
    check(encoder, JxlEncoderSetColorEncoding(&encoder, &space));
  }

  void add_boxes(JxlEncoder& encoder) const {
    check(encoder, JxlEncoderUseBoxes(&encoder));
    if (!header_.metadata.exif.empty()) {
      Bytes box(4);  // no bytes to skip before it
      box.insert(box.end(), header_.metadata.exif.begin(), header_.metadata.exif.end());
      check(encoder, JxlEncoderAddBox(&encoder, "Exif", box.data(), box.size(), JXL_FALSE));
    }
    const Bytes& xmp = header_.metadata.xmp;
    if (!xmp.empty())
      check(encoder, JxlEncoderAddBox(&encoder, "xml ", xmp.data(), xmp.size(), JXL_FALSE));
    JxlEncoderCloseBoxes(&encoder);
  }

  void drain(JxlEncoder& encoder) {
    Bytes part(std::size_t{1} << 20);
    JxlEncoderStatus status;
    do {
      unsigned char* next = part.data();
      std::size_t room = part.size();
      status = JxlEncoderProcessOutput(&encoder, &next, &room);
      if (status == JXL_ENC_ERROR) check(encoder, status);
      sink_.append(std::span(part).first(part.size() - room));
    } while (status == JXL_ENC_NEED_MORE_OUTPUT);
  }

  const float distance_;
};

}  // namespace
}  // namespace convfilt

extern "C" const convfilt::CodecModule* module_of_convfilt() {
  static constexpr convfilt::CodecModule kModule{
      convfilt::kModuleInterface,
      {convfilt::open_with<convfilt::JxlReader>, convfilt::create_with<convfilt::JxlWriter>},
      &convfilt::parallel_for};
  return &kModule;
}
