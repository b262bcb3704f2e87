/// WebP by libwebp: lossy and lossless, with alpha, and animations.
///
/// The format has no rows to be had one by one: a picture is decoded when its first rows are asked
/// for, and encoded when its last are there.
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/codecs/canvas.hpp"
#include "src/picture/codecs/parts.hpp"

namespace convfilt {
namespace {

using namespace std::string_view_literals;

/// Why the container cannot be whole; empty when it may be.
std::string damage_of(ByteView file) {
  constexpr std::size_t kHead = 8;
  if (file.size() < 12) return ends_early("within its header");
  const std::uint64_t whole = little_endian(file, 4) + kHead;
  if (whole > file.size())
    return ends_early(std::to_string(file.size()) + " of " + std::to_string(whole) + " bytes");
  if (whole + whole % 2 < file.size()) return bytes_follow(file.size() - whole);
  return "";
}

Bytes chunk_of(const WebPDemuxer* demuxer, const char* name) {
  WebPChunkIterator chunk;
  Bytes bytes;
  if (WebPDemuxGetChunk(demuxer, name, 1, &chunk))
    bytes.assign(chunk.chunk.bytes, chunk.chunk.bytes + chunk.chunk.size);
  WebPDemuxReleaseChunkIterator(&chunk);
  return bytes;
}

/// Reads bits of even odds, as the head of a VP8 frame has them (RFC 6386, 7.3).
class HeadBits {
 public:
  explicit HeadBits(ByteView bytes) : bytes_(bytes) {}

  int number(int bits) {
    int value = 0;
    while (bits-- > 0) value = 2 * value + bit();
    return value;
  }
  int flagged(int bits) {  // a number with a sign, behind a flag that says whether it is there
    if (!number(1)) return 0;
    const int value = number(bits);
    return number(1) ? -value : value;
  }

 private:
  int bit() {
    const unsigned split = 1 + ((range_ - 1) * 128 >> 8);
    while (filled_ < 8) {
      held_ = held_ << 8 | (next_ < bytes_.size() ? bytes_[next_] : 0);
      ++next_;
      filled_ += 8;
    }
    const unsigned top = held_ >> (filled_ - 8);
    const bool is_one = top >= split;
    if (is_one) held_ -= split << (filled_ - 8);
    range_ = is_one ? range_ - split : split;
    for (; range_ < 128; range_ *= 2) --filled_;
    return is_one;
  }

  ByteView bytes_;
  std::size_t next_ = 0;
  unsigned held_ = 0, range_ = 255;
  int filled_ = 0;
};

/// The quality for which libwebp takes the mean of the frame's quantisers; nothing for a lossless
/// picture. It is off by some where libwebp spread the quantisers over segments.
std::optional<int> quality_of(ByteView riff, std::size_t at = 12) {
  // Chunks from `at` on: a name, a size, data of an even length.
  while (at + 8 <= riff.size() && !starts_with(riff.subspan(at), "VP8 "))
    at += 8 + (little_endian(riff, at + 4) + 1) / 2 * 2;
  constexpr std::size_t kHead = 18;  // the chunk's, the frame's tag, its mark and its size
  if (at + kHead >= riff.size()) return std::nullopt;
  HeadBits bits(riff.subspan(at + kHead));
  constexpr int kSegments = 4;
  bits.number(2);  // colour space, clamping
  int shift = 0;
  bool is_absolute = false;
  if (bits.number(1)) {
    const bool has_map = bits.number(1);
    if (bits.number(1)) {
      is_absolute = bits.number(1);
      for (int i = 0; i < kSegments; ++i) shift += bits.flagged(7);
      for (int i = 0; i < kSegments; ++i) bits.flagged(6);
    }
    for (int i = 0; has_map && i + 1 < kSegments; ++i)
      if (bits.number(1)) bits.number(8);
  }
  bits.number(1 + 6 + 3);  // the loop filter
  if (bits.number(1) && bits.number(1))
    for (int i = 0; i < 8; ++i) bits.flagged(6);
  bits.number(2);  // partitions
  const double quantiser = (is_absolute ? 0 : bits.number(7)) + double(shift) / kSegments;
  const double root = 1 - std::clamp(quantiser, 0.0, 127.0) / 127, linear = root * root * root;
  return int(std::lround(100 * (linear < 0.5 ? linear * 1.5 : (linear + 1) / 2)));
}

class WebpReader : public AnimationReader {
 public:
  WebpReader(ByteSource& source, ReadContext& context)
      : AnimationReader(source, context, FormatId::webp), file_(context.whole(source)) {
    damage_ = damage_of(file_);
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(file_.data(), file_.size(), &features);
    if (status != VP8_STATUS_OK) give_up(damage_.empty() ? "its header is damaged" : damage_);
    set_size(features.width, features.height);
    if (!damage_.empty()) context.damaged(damage_);
    header_.channels = features.has_alpha ? 4 : 3;
    constexpr int kLossy = 1;
    if (features.format == kLossy) header_.quality = quality_of(file_);
    bitstream_ = file_;
    read_container(features.has_animation);
  }

  std::int64_t held_bytes() const override {
    return WholeReader::held_bytes() + (demuxer_ ? bytes_of(header_) : 0);
  }

 private:
  void read_container(bool animated) {
    const WebPData data{file_.data(), file_.size()};
    WebPDemuxState state;
    Demuxer demuxer(WebPDemuxPartial(&data, &state));
    if (!demuxer) return;
    header_.metadata.icc = chunk_of(demuxer.get(), "ICCP");
    header_.metadata.xmp = chunk_of(demuxer.get(), "XMP ");
    Bytes exif = chunk_of(demuxer.get(), "EXIF");
    if (exif.size() > kExifMark.size() && starts_with(exif, kExifMark))
      exif.erase(exif.begin(), exif.begin() + std::ptrdiff_t(kExifMark.size()));
    if (!exif.empty()) header_.orientation = exif_orientation(exif);
    header_.metadata.exif = std::move(exif);
    if (!animated) return;
    header_.channels = 4;
    header_.pages = std::max(1, int(WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT)));
    header_.frame = Frame{int(WebPDemuxGetI(demuxer.get(), WEBP_FF_LOOP_COUNT))};
    demuxer_ = std::move(demuxer);
    if (!begin_frame(1))
      context_.fail("nothing of this WebP can be read: its first frame is not there");
    header_.quality = quality_of(bitstream_, 0);
    if (reads_frames(context_.options())) begin_animation();
  }

  bool find_frame() override { return begin_frame(number_ + 1); }

  /// Frames count from 1. One may cover a part of the picture.
  bool begin_frame(int number) {
    WebPIterator frame;
    if (!WebPDemuxGetFrame(demuxer_.get(), number, &frame)) return false;
    number_ = number;
    const bool clears = frame.dispose_method == WEBP_MUX_DISPOSE_BACKGROUND;
    place_ = {frame.x_offset,
              frame.y_offset,
              frame.width,
              frame.height,
              frame.blend_method == WEBP_MUX_BLEND,
              clears ? Disposal::clear : Disposal::keep};
    header_.frame->time = frame.duration;
    bitstream_ = {frame.fragment.bytes, frame.fragment.size};
    check_head_of_frame(std::size_t(frame.fragment.bytes - file_.data()));
    WebPDemuxReleaseIterator(&frame);
    return true;
  }

  /// libwebp takes a frame's size from its coded picture, at `at`, and not from the 16 bytes before
  /// that.
  void check_head_of_frame(std::size_t at) {
    constexpr std::size_t kHead = 16, kWidth = 6, kHeight = 9;
    if (at < kHead) return;
    const auto side = [&](std::size_t place) {
      return int(little_endian(file_, at - kHead + place) & 0xFFFFFF) + 1;
    };
    if (side(kWidth) != place_.width || side(kHeight) != place_.height)
      context_.damaged(data_damaged("a frame has another size than its head says"));
  }

  void copy_row(int y, std::byte* to) const override {
    if (canvas_.empty())
      std::memcpy(to, std::as_const(image_).view().row(y), image_.row_bytes());
    else
      AnimationReader::copy_row(y, to);
  }

  void decode() override {
    if (!demuxer_) {
      context_.check_memory(std::uint64_t(bytes_of(header_)));
      return decode_into(header_.width, header_.height);
    }
    check_canvas(context_, header_, place_.width, place_.height);
    AnimationReader::decode();
  }

  void lay_frame() override {
    if (place_.x < 0 || place_.y < 0 || place_.width < 1 || place_.height < 1 ||
        place_.x + place_.width > header_.width || place_.y + place_.height > header_.height)
      return context_.damaged(data_damaged("a frame lies outside the picture"));
    decode_into(place_.width, place_.height);
    canvas_.lay(std::as_const(image_).view(), place_);
  }

  void decode_into(int width, int height) {
    image_ = Image(width, height, header_.channels, header_.depth);
    const PictureView<std::byte> into = image_.view();
    // Rows that are not decoded are black. Where damage is refused there are none, and a header
    // that lies takes no memory.
    if (demuxer_ || !context_.options().refuse_damaged)
      for (int y = 0; y < into.height; ++y) std::memset(into.row(y), 0, image_.row_bytes());
    auto* const pixels = reinterpret_cast<std::uint8_t*>(into.data);
    const std::size_t bytes = std::size_t(into.pitch) * std::size_t(into.height - 1) +
                              std::size_t(into.width * into.channels);
    const std::unique_ptr<WebPIDecoder, Destroy<WebPIDelete>> decoder(
        WebPINewRGB(into.channels == 4 ? MODE_BGRA : MODE_BGR, pixels, bytes, int(into.pitch)));
    if (!decoder) throw std::bad_alloc();
    const VP8StatusCode status = WebPIUpdate(decoder.get(), bitstream_.data(), bitstream_.size());
    if (status == VP8_STATUS_OK) return;
    if (status == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc();
    int last_row = 0;
    WebPIDecGetRGB(decoder.get(), &last_row, nullptr, nullptr, nullptr);
    const std::string place = row_text(last_row, into.height);
    if (last_row == 0 && !context_.options().refuse_damaged)
      give_up(damage_.empty() ? "its data is damaged" : damage_);
    context_.damaged(status == VP8_STATUS_SUSPENDED ? ends_early(place) : data_damaged(place));
  }

  using Demuxer = std::unique_ptr<WebPDemuxer, Destroy<WebPDemuxDelete>>;

  ByteView file_, bitstream_;
  Image image_;  ///< or a frame
  std::string damage_;
  Demuxer demuxer_;  ///< of an animation
  FramePlace place_;
  int number_ = 0;  ///< of the frame
};

class WebpWriter : public WholeWriter {
 public:
  WebpWriter(ByteSink& sink, const Header& header, const WriteOptions& options)
      : WholeWriter(sink, header), quality_(options.quality), frame_(header.frame) {
    if (header.width > WEBP_MAX_DIMENSION || header.height > WEBP_MAX_DIMENSION) {
      throw UsageError("WebP holds at most " + std::to_string(WEBP_MAX_DIMENSION) +
                       " pixels a side, and the picture has " +
                       size_text(header.width, header.height) +
                       "; write another format, such as png");
    }
    if (frame_) begin_animation();
  }

  void next(const Header& header) override {
    append_frame();
    frame_ = header.frame;
    begin_again();
  }

  /// libwebp's lossless encoder takes 30 bytes a pixel for noise, measured.
  std::int64_t held_bytes() const override {
    const std::int64_t pixels = std::int64_t{header_.width} * header_.height;
    return bytes_of(header_) + (quality_ ? 8 : 34) * pixels;
  }

 private:
  static constexpr std::size_t kHead = 12;  ///< "RIFF", the bytes that follow, "WEBP"

  /// Writes the head of the container; end_container() sets its length.
  void begin_container(bool has_alpha) {
    constexpr unsigned kAnimated = 2, kXmp = 4, kExif = 8, kAlpha = 16, kIcc = 32;
    const Metadata& metadata = header_.metadata;
    sink_.append(bytes_of("RIFF\0\0\0\0WEBP"sv));
    Bytes extended;
    append_number(extended,
                  (frame_ ? kAnimated : 0) | (metadata.xmp.empty() ? 0 : kXmp) |
                      (metadata.exif.empty() ? 0 : kExif) | (has_alpha ? kAlpha : 0) |
                      (metadata.icc.empty() ? 0 : kIcc),
                  4, true);
    for (const int side : {header_.width, header_.height})
      append_number(extended, std::uint64_t(side) - 1, 3, true);
    append_chunk("VP8X", extended);
    if (!metadata.icc.empty()) append_chunk("ICCP", metadata.icc);
  }

  void begin_animation() {
    begin_container(header_.channels == 4);
    Bytes animation;
    append_number(animation, 0, 4, true);  // a clear background
    append_number(animation, std::uint64_t(std::clamp(frame_->loops, 0, 65535)), 2, true);
    append_chunk("ANIM", animation);
  }

  /// A frame covers the picture, and replaces the one before.
  void append_frame() {
    constexpr std::uint64_t kReplaces = 2, kLongest = 0xFFFFFF;
    const std::uint64_t milliseconds =
        (std::uint64_t(frame_->time) * 1000 + std::uint64_t(frame_->per_second) / 2) /
        std::uint64_t(frame_->per_second);
    Bytes frame(6);  // where it lies
    for (const int side : {header_.width, header_.height})
      append_number(frame, std::uint64_t(side) - 1, 3, true);
    append_number(frame, std::min(milliseconds, kLongest), 3, true);
    append_number(frame, kReplaces, 1, true);
    const Bytes bitstream = encoded();
    const ByteView chunks = chunks_in(bitstream);
    frame.insert(frame.end(), chunks.begin(), chunks.end());
    append_chunk("ANMF", frame);
  }

  /// The chunks of a coded picture, without its own container.
  static ByteView chunks_in(ByteView bitstream) {
    const ByteView chunks = bitstream.subspan(kHead);
    return starts_with(chunks, "VP8X") ? chunks.subspan(8 + little_endian(chunks, 4)) : chunks;
  }

  void end_container() {
    if (!header_.metadata.exif.empty()) append_chunk("EXIF", header_.metadata.exif);
    if (!header_.metadata.xmp.empty()) append_chunk("XMP ", header_.metadata.xmp);
    if (sink_.size() - 8 > UINT32_MAX - 1)
      fail(frame_ ? "an animated WebP holds at most 4 GiB"
                  : "its metadata do not fit; --strip leaves them out");
    Bytes length;
    append_number(length, sink_.size() - 8, 4, true);
    sink_.write(4, length);
  }

  void append_chunk(std::string_view name, ByteView data) {
    Bytes head(name.begin(), name.end());
    append_number(head, data.size(), 4, true);
    sink_.append(head);
    sink_.append(data);
    if (data.size() % 2) sink_.append(Bytes(1));
  }

  void finish() override {
    if (frame_) {
      append_frame();
      return end_container();
    }
    const Bytes bitstream = encoded();
    const Metadata& metadata = header_.metadata;
    if (metadata.icc.empty() && metadata.exif.empty() && metadata.xmp.empty())
      return sink_.append(bitstream);
    WebPBitstreamFeatures features{};
    WebPGetFeatures(bitstream.data(), bitstream.size(), &features);
    begin_container(features.has_alpha);
    sink_.append(chunks_in(bitstream));
    end_container();
  }

  Bytes encoded() const {
    const PictureView<const std::byte> view = image_.view();
    const auto* const pixels = reinterpret_cast<const std::uint8_t*>(view.data);
    // Settings are those of libwebp's simple functions, which OpenCV calls, so both write the same
    // bytes; but clear pixels keep their colours, because lossless means all samples.
    constexpr float kEffort = 70;
    WebPConfig config;
    WebPPicture picture;
    const float quality = quality_ ? float(*quality_) : kEffort;
    if (!WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, quality) || !WebPPictureInit(&picture))
      fail("the installed libwebp is another than that of the program's build");
    config.lossless = config.exact = !quality_;
    Bytes bytes;
    picture.use_argb = !quality_;
    picture.width = view.width;
    picture.height = view.height;
    picture.writer = keep;
    picture.custom_ptr = &bytes;
    const auto import = view.channels == 4 ? WebPPictureImportBGRA : WebPPictureImportBGR;
    const bool done = import(&picture, pixels, int(view.pitch)) && WebPEncode(&config, &picture);
    WebPPictureFree(&picture);
    if (done) return bytes;
    switch (picture.error_code) {
      case VP8_ENC_ERROR_OUT_OF_MEMORY:
      case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY: throw std::bad_alloc();
      case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
      case VP8_ENC_ERROR_PARTITION_OVERFLOW:
        fail("it has more detail than WebP holds at this quality; lower --quality");
      default: fail("libwebp's error " + std::to_string(int(picture.error_code)));
    }
  }

  /// Appends what libwebp has encoded; 0 tells it that memory is short.
  static int keep(const std::uint8_t* data, std::size_t size, const WebPPicture* picture) {
    auto& bytes = *static_cast<Bytes*>(picture->custom_ptr);
    try {
      bytes.insert(bytes.end(), data, data + size);
      return 1;
    } catch (const std::bad_alloc&) {
      return 0;
    }
  }

  std::optional<int> quality_;
  std::optional<Frame> frame_;  ///< of an animation
};

}  // namespace

const Codec kWebpCodec{open_with<WebpReader>, create_with<WebpWriter>};

}  // namespace convfilt
