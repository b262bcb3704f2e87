/// HEIC and AVIF, by libheif.
#include <libheif/heif.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "src/picture/codecs/parts.hpp"
#include "src/picture/modules.hpp"
#include "src/picture/modules/boxes.hpp"
#include "src/picture/sample_type.hpp"
#include "src/picture/samples.hpp"

namespace convfilt {
namespace {

using Context = std::unique_ptr<heif_context, Destroy<heif_context_free>>;
using Handle = std::unique_ptr<heif_image_handle, Destroy<heif_image_handle_release>>;
using Pixels = std::unique_ptr<heif_image, Destroy<heif_image_release>>;
using HeifEncoder = std::unique_ptr<heif_encoder, Destroy<heif_encoder_release>>;
using Nclx = std::unique_ptr<heif_color_profile_nclx, Destroy<heif_nclx_color_profile_free>>;

Context make_context() {
  static const heif_error initialised = heif_init(nullptr);  // loads the plugins of later versions
  if (initialised.code != heif_error_Ok) throw std::bad_alloc();
  Context context(heif_context_alloc());
  if (!context) throw std::bad_alloc();
  return context;
}

ByteView content_of(const std::vector<Box>& boxes, std::string_view type) {
  const auto found =
      std::find_if(boxes.begin(), boxes.end(), [&](const Box& box) { return box.type == type; });
  return found == boxes.end() ? ByteView() : found->content;
}

ByteView after(ByteView bytes, std::size_t count) {
  return bytes.subspan(std::min(count, bytes.size()));
}

std::uint64_t version_of(ByteView box) {
  return number_at(box, 0, 1);
}

/// The properties of an item.
std::vector<Box> properties_of(const std::vector<Box>& meta, std::uint64_t item) {
  const std::vector<Box> all = boxes_in(content_of(meta, "iprp")),
                         properties = boxes_in(content_of(all, "ipco"));
  const ByteView list = content_of(all, "ipma");
  const int id_size = version_of(list) < 1 ? 2 : 4, index_size = number_at(list, 3, 1) & 1 ? 2 : 1;
  const std::uint64_t flag = index_size == 2 ? 0x8000 : 0x80;  // "essential"
  std::vector<Box> found;
  std::size_t at = 8;
  for (std::uint64_t entries = number_at(list, 4, 4); entries > 0 && at < list.size(); --entries) {
    const std::uint64_t id = number_at(list, at, id_size);
    at += std::size_t(id_size);
    for (std::uint64_t count = number_at(list, at++, 1); count > 0; --count) {
      const std::uint64_t index = number_at(list, at, index_size) & ~flag;
      at += std::size_t(index_size);
      constexpr std::size_t kMost = 255;
      if (id == item && index > 0 && index <= properties.size() && found.size() < kMost)
        found.push_back(properties[std::size_t(index - 1)]);
    }
  }
  return found;
}

/// Whether an item has luma alone; nothing if it has no codec.
std::optional<bool> is_monochrome(const std::vector<Box>& meta, std::uint64_t item) {
  for (const Box& property : properties_of(meta, item)) {
    if (property.type == "av1C") return (number_at(property.content, 2, 1) & 0x10) != 0;
    if (property.type == "hvcC") return (number_at(property.content, 16, 1) & 3) == 0;
  }
  return std::nullopt;
}

std::uint64_t primary_item(const std::vector<Box>& meta) {
  const ByteView primary = content_of(meta, "pitm");
  return number_at(primary, 4, version_of(primary) == 0 ? 2 : 4);
}

std::vector<Box> meta_of(ByteView file) {
  return boxes_in(after(content_of(boxes_in(file), "meta"), 4));
}

/// The levels of light of the primary picture, as PNG's mDCV and cLLI have them. The boxes have
/// green before blue and red, and whole candelas.
void take_levels(ByteView file, ColourLabel& label) {
  constexpr std::uint64_t kUnits = 10000;  // PNG's in a candela per square metre
  const std::vector<Box> meta = meta_of(file);
  for (const Box& property : properties_of(meta, primary_item(meta))) {
    const ByteView box = property.content;
    if (property.type == "clli" && box.size() >= 4) {
      label.light_levels.clear();
      for (const std::size_t at : {0, 2})
        append_big_endian(label.light_levels, number_at(box, at, 2) * kUnits);
    }
    if (property.type == "mdcv" && box.size() >= 24) {
      label.mastering.assign(box.begin(), box.begin() + 24);
      std::rotate(label.mastering.begin(), label.mastering.begin() + 8,
                  label.mastering.begin() + 12);
    }
  }
}

/// Whether the primary picture has luma alone. libheif reports that for decoded pictures only, and
/// has no function that turns those into colours.
bool primary_is_monochrome(ByteView file) {
  const std::vector<Box> meta = meta_of(file);
  const ByteView references = content_of(meta, "iref");
  const std::uint64_t item = primary_item(meta);
  if (const auto found = is_monochrome(meta, item)) return *found;
  // A grid has no codec; its tiles have one.
  const int size = version_of(references) == 0 ? 2 : 4;
  for (const Box& reference : boxes_in(after(references, 4)))
    if (reference.type == "dimg" && number_at(reference.content, 0, size) == item)
      return is_monochrome(meta, number_at(reference.content, std::size_t(size) + 2, size))
          .value_or(false);
  return false;
}

std::string words_of(const heif_error& error) {
  std::string text = error.message ? error.message : "libheif gave up";
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

heif_chroma interleaved(bool alpha, bool deep) {
  if (alpha) return deep ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA;
  return deep ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RGB;
}

class HeifReader : public WholeReader {
 public:
  HeifReader(ByteSource& source, ReadContext& context)
      : WholeReader(source, context, format_of(source, context.name())), heif_(make_context()) {
    const ByteView bytes = context.whole(source);
    look_at_boxes(bytes);
    if (!cut_.empty() && context.options().refuse_damaged) context.damaged(cut_);
    require(heif_context_read_from_memory_without_copy(heif_.get(), bytes.data(), bytes.size(),
                                                       nullptr));
    heif_image_handle* handle = nullptr;
    require(heif_context_get_primary_image_handle(heif_.get(), &handle));
    handle_.reset(handle);
    set_size(heif_image_handle_get_width(handle), heif_image_handle_get_height(handle));
    is_grey_ = primary_is_monochrome(bytes);
    has_alpha_ = heif_image_handle_has_alpha_channel(handle) != 0;
    header_.channels = has_alpha_ ? 4 : is_grey_ ? 1 : 3;
    header_.depth = heif_image_handle_get_luma_bits_per_pixel(handle) > 8 ? Depth::u16 : Depth::u8;
    const int others = heif_context_get_number_of_top_level_images(heif_.get()) - 1 +
                       heif_image_handle_get_number_of_auxiliary_images(
                           handle, LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA);
    if (others > 0)
      context.leaves_out("only the main one of its " + std::to_string(others + 1) +
                         " pictures is read");
    library_bytes_ = (header_.depth == Depth::u8 ? 1 : 4) * samples_of(header_);
    context.check_plausible(header_, std::uint64_t(held_bytes()), source.size());
    read_metadata();
    // libheif turns and mirrors the picture by the file's boxes. EXIF's orientation repeats them,
    // and has no meaning in these formats.
    header_.orientation = 1;
  }

 protected:
  void decode() override {
    heif_image* image = nullptr;
    const std::unique_ptr<heif_decoding_options, Destroy<heif_decoding_options_free>> options(
        heif_decoding_options_alloc());
    if (!options) throw std::bad_alloc();
    options->strict_decoding = context_.options().refuse_damaged;
    // libheif gives some monochrome pictures as colours alone, which are equal then.
    is_luma_ = is_grey_ && heif_decode_image(handle_.get(), &image, heif_colorspace_monochrome,
                                             heif_chroma_monochrome, options.get())
                                   .code == heif_error_Ok;
    if (!is_luma_)
      require(heif_decode_image(handle_.get(), &image, heif_colorspace_RGB,
                                interleaved(has_alpha_, header_.depth == Depth::u16),
                                options.get()));
    pixels_.reset(image);
    const heif_channel main = is_luma_ ? heif_channel_Y : heif_channel_interleaved;
    main_ = plane(main);
    if (is_luma_ && has_alpha_) alpha_ = plane(heif_channel_Alpha);
    if (!main_.data || (is_luma_ && has_alpha_ && !alpha_.data) ||
        heif_image_get_width(image, main) != header_.width ||
        heif_image_get_height(image, main) != header_.height)
      context_.fail("libheif gives other pixels than its header promises; convert it first");
    if (is_luma_) find_range();
    is_premultiplied_ = has_alpha_ && heif_image_handle_is_premultiplied_alpha(handle_.get());
    find_damage();
    if (!cut_.empty()) context_.damaged(cut_);
  }

  void copy_row(int y, std::byte* to) const override {
    if (header_.depth == Depth::u8)
      copy_samples<std::uint8_t>(y, reinterpret_cast<std::uint8_t*>(to));
    else
      copy_samples<std::uint16_t>(y, reinterpret_cast<std::uint16_t*>(to));
    if (is_premultiplied_) unpremultiply({to, header_.width, 1, 4, 0}, header_.depth);
  }

 private:
  struct Plane {
    const std::uint8_t* data = nullptr;
    int stride = 0, bits = 8;
    bool is_wide = false;  ///< samples of two bytes

    unsigned sample(int y, std::ptrdiff_t at) const {
      const std::uint8_t* row = data + std::ptrdiff_t(y) * stride;
      if (!is_wide) return row[at];
      std::uint16_t value;
      std::memcpy(&value, row + 2 * at, 2);
      return value;
    }
  };

  Plane plane(heif_channel channel) const {
    Plane found;
    found.data = heif_image_get_plane_readonly(pixels_.get(), channel, &found.stride);
    found.bits = heif_image_get_bits_per_pixel_range(pixels_.get(), channel);
    found.is_wide = found.bits > 8;
    return found;
  }

  /// A sample at its depth's full range.
  template <class T>
  static T full_range_sample(unsigned value, int bits) {
    if constexpr (sizeof(T) == 1) return T(bits > 8 ? value >> (bits - 8) : value);
    const unsigned full = (1u << bits) - 1;
    return T((std::min(value, full) * 65535u + full / 2) / full);
  }

  template <class T>
  void copy_samples(int y, T* to) const {
    const int channels = header_.channels, stored = is_luma_ ? 1 : std::max(channels, 3);
    for (int c = 0; c < channels; ++c) {
      const bool is_alpha = c == 3, is_grey = is_luma_ && !is_alpha;
      const Plane& plane = is_luma_ && is_alpha ? alpha_ : main_;
      // Colours come as RGB; of those of a grey picture, which are equal, the first is taken.
      const int at = is_luma_ ? 0 : is_alpha || channels == 1 ? c : 2 - c;
      for (std::ptrdiff_t x = 0; x < header_.width; ++x) {
        const unsigned value = plane.sample(y, x * stored + at);
        to[x * channels + c] = is_grey ? ranged<T>(value) : full_range_sample<T>(value, plane.bits);
      }
    }
  }

  /// A grey sample; those of video leave room below black and above white.
  template <class T>
  T ranged(unsigned value) const {
    if (!is_video_range_) return full_range_sample<T>(value, main_.bits);
    const double unit = double(1u << (main_.bits - 8));
    const double level = (double(value) - 16 * unit) / (219 * unit);
    return to_sample<T>(level * double(std::numeric_limits<T>::max()));
  }

  void find_range() {
    heif_color_profile_nclx* found = nullptr;
    if (heif_image_get_nclx_color_profile(pixels_.get(), &found).code != heif_error_Ok) return;
    const Nclx nclx(found);
    is_video_range_ = nclx && !nclx->full_range_flag;
  }

  /// Reports the last warning that is about damage. libheif 1.15 gives all warnings from the first
  /// on, however few are asked for, each with the text of the last.
  void find_damage() {
    // heif_suberror_NCLX_colr_VUI_mismatch, which old headers lack: file and codec name different
    // colours. The file's name is used. Sony's cameras write such files.
    constexpr int kColoursDisagree = 152;
    std::vector<heif_error> warnings(
        std::size_t(heif_image_get_decoding_warnings(pixels_.get(), 0, nullptr, 0)));
    for (int i = int(warnings.size()); i-- > 0;) {
      heif_image_get_decoding_warnings(pixels_.get(), i, warnings.data(), 1);
      if (int(warnings[0].subcode) == kColoursDisagree) continue;
      return context_.damaged(data_damaged(words_of(warnings[0])));
    }
  }

  /// Each top-level box has its length, and the pixels lie in one of the last. Unknown boxes and a
  /// second beginning are parts beside the pictures, such as a video.
  void look_at_boxes(ByteView bytes) {
    constexpr std::string_view kKnown[] = {"ftyp", "meta", "mdat", "idat", "free", "skip", "wide"};
    std::size_t end = 0;
    bool has_begun = false;
    const std::vector<Box> boxes = boxes_in(bytes);
    for (const Box& box : boxes) {
      const bool begins_again = box.type == "ftyp" && std::exchange(has_begun, true);
      end = box.end;
      if (begins_again ||
          std::find(std::begin(kKnown), std::end(kKnown), box.type) == std::end(kKnown))
        context_.leaves_out(box.type == "moov" ? "only one picture of its sequence is read"
                                               : "its box " + in_quotes(box.type) + " is not read");
      if (box.is_cut) cut_ = box.damage();
    }
    const ByteView rest = bytes.subspan(end);
    if (has_only_zeros(rest)) return;
    const bool has_picture =
        !content_of(boxes, "meta").empty() && !content_of(boxes, "mdat").empty();
    cut_ = has_picture ? bytes_follow(rest.size())
                       : ends_early("in the header of the box at byte " + std::to_string(end));
  }

  /// Throws IoError unless all is well.
  void require(const heif_error& error) {
    if (error.code == heif_error_Ok) return;
    if (error.code == heif_error_Memory_allocation_error &&
        error.subcode == heif_suberror_Unspecified)
      throw std::bad_alloc();
    if (error.subcode == heif_suberror_Unsupported_codec) {
      const bool hevc = header_.format == FormatId::heic;
      context_.fail(std::string("libheif has no decoder for it here (") + words_of(error) +
                    "); install " + (hevc ? "libheif-plugin-libde265" : "libheif-plugin-dav1d"));
    }
    const bool ends = error.subcode == heif_suberror_End_of_data;
    const std::string why = ends ? ends_early(words_of(error)) : data_damaged(words_of(error));
    give_up(cut_.empty() ? why : cut_);
  }

  void read_metadata() {
    const heif_image_handle* handle = handle_.get();
    Metadata& metadata = header_.metadata;
    const heif_color_profile_type type = heif_image_handle_get_color_profile_type(handle);
    if (type == heif_color_profile_type_prof || type == heif_color_profile_type_rICC) {
      metadata.icc.resize(heif_image_handle_get_raw_color_profile_size(handle));
      if (heif_image_handle_get_raw_color_profile(handle, metadata.icc.data()).code !=
          heif_error_Ok)
        metadata.icc.clear();
    }
    heif_color_profile_nclx* found = nullptr;
    if (metadata.icc.empty() &&
        heif_image_handle_get_nclx_color_profile(handle, &found).code == heif_error_Ok) {
      const Nclx nclx(found);
      const ColourLabel::Codes codes{std::uint8_t(nclx->color_primaries),
                                     std::uint8_t(nclx->transfer_characteristics)};
      if (!codes.say_nothing(header_.depth)) metadata.label.codes = codes;
    }
    take_levels(source_.whole(), metadata.label);
    const int count = heif_image_handle_get_number_of_metadata_blocks(handle, nullptr);
    std::vector<heif_item_id> ids(std::size_t(std::max(count, 0)));
    heif_image_handle_get_list_of_metadata_block_IDs(handle, nullptr, ids.data(), count);
    for (const heif_item_id id : ids) {
      const std::string_view kind = heif_image_handle_get_metadata_type(handle, id);
      const bool is_xmp =
          kind == "mime" && std::string_view(heif_image_handle_get_metadata_content_type(
                                handle, id)) == "application/rdf+xml";
      if (!is_xmp && kind != "Exif") continue;
      Bytes block(heif_image_handle_get_metadata_size(handle, id));
      if (block.empty() ||
          heif_image_handle_get_metadata(handle, id, block.data()).code != heif_error_Ok)
        continue;
      const ByteView found = is_xmp ? ByteView(block) : exif_in_box(block);
      if (!found.empty())
        (is_xmp ? metadata.xmp : metadata.exif).assign(found.begin(), found.end());
    }
  }

  std::string cut_;  ///< where the file ends too early; empty when it does not
  const Context heif_;
  Handle handle_;
  Pixels pixels_;
  bool is_grey_ = false, is_luma_ = false, has_alpha_ = false, is_premultiplied_ = false,
       is_video_range_ = false;
  Plane main_, alpha_;
};

class HeifWriter : public WholeWriter {
 public:
  HeifWriter(ByteSink& sink, const Header& header, const WriteOptions& options)
      : WholeWriter(sink, header), options_(options), heif_(make_context()) {
    const bool deep = header.depth == Depth::u16, avif = header.format == FormatId::avif;
    // 10 bits are what decoders of HEIC in hardware take.
    if (deep) bits_ = avif ? 12 : 10;
    const std::int64_t pixels = std::int64_t{header.width} * header.height;
    library_bytes_ = (deep ? 8 : 6) * samples_of(header);
    if (header.channels == 1) library_bytes_ += (deep ? 6 : 4) * pixels;  // chroma
    // In 8 bits libaom looks for repetitions, where a picture has any, as that of a screen.
    if (avif && !deep) library_bytes_ = 78 * pixels;
    if (avif) library_bytes_ += 30 << 20;  // an encoder of any size
    // Each thread of x265 has rows of its own.
    constexpr std::int64_t kThreadBytes = 1 << 20;
    if (!avif) library_bytes_ += kThreadBytes * std::max(1u, std::thread::hardware_concurrency());
    find_encoder();
  }

  void finish() override {
    const Metadata& metadata = header_.metadata;
    if (!metadata.icc.empty())
      require(heif_image_set_raw_color_profile(pixels_.get(), "prof", metadata.icc.data(),
                                               metadata.icc.size()));
    const std::unique_ptr<heif_encoding_options, Destroy<heif_encoding_options_free>> options(
        heif_encoding_options_alloc());
    if (!options) throw std::bad_alloc();
    const Nclx nclx = colours();
    options->output_nclx_profile = nclx.get();
    // Decoders need a matrix, which an ICC profile does not have.
    options->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
    options->macOS_compatibility_workaround_no_nclx_profile = 0;
    require(heif_image_set_nclx_color_profile(pixels_.get(), nclx.get()));
    put_levels();
    // x265 fills its table of functions when it encodes its first picture, and another thread may
    // find that table half full. So the first one is encoded alone.
    static std::mutex first;
    static std::atomic<bool> is_set_up{false};
    std::unique_lock lock(first, std::defer_lock);
    if (header_.format == FormatId::heic && !is_set_up) lock.lock();
    if (lock.owns_lock() && is_set_up) lock.unlock();
    heif_image_handle* handle = nullptr;
    require(heif_context_encode_image(heif_.get(), pixels_.get(), encoder_.get(), options.get(),
                                      &handle));
    if (lock.owns_lock()) {
      is_set_up = true;
      lock.unlock();
    }
    const Handle kept(handle);
    if (!metadata.exif.empty())
      require(heif_context_add_exif_metadata(heif_.get(), handle, metadata.exif.data(),
                                             int(metadata.exif.size())));
    if (!metadata.xmp.empty())
      require(heif_context_add_XMP_metadata(heif_.get(), handle, metadata.xmp.data(),
                                            int(metadata.xmp.size())));
    Bytes bytes;
    heif_writer writer{1, [](heif_context*, const void* data, std::size_t size, void* into) {
                         const auto* from = static_cast<const unsigned char*>(data);
                         static_cast<Bytes*>(into)->assign(from, from + size);
                         return heif_error{heif_error_Ok, heif_suberror_Unspecified, ""};
                       }};
    require(heif_context_write(heif_.get(), &writer, &bytes));
    sink_.append(bytes);
  }

 protected:
  void begin() override {
    const bool deep = header_.depth == Depth::u16, grey = header_.channels == 1;
    const heif_chroma chroma =
        grey ? heif_chroma_monochrome : interleaved(header_.channels == 4, deep);
    const heif_channel channel = grey ? heif_channel_Y : heif_channel_interleaved;
    heif_image* image = nullptr;
    require(heif_image_create(header_.width, header_.height,
                              grey ? heif_colorspace_monochrome : heif_colorspace_RGB, chroma,
                              &image));
    pixels_.reset(image);
    require(heif_image_add_plane(image, channel, header_.width, header_.height, bits_));
    plane_ = heif_image_get_plane(image, channel, &stride_);
  }

  void put_row(int y, const std::byte* from) override {
    std::uint8_t* row = plane_ + std::ptrdiff_t(y) * stride_;
    copy_row_reversed(from, reinterpret_cast<std::byte*>(row), header_);
    if (header_.depth == Depth::u8) return;
    auto* to = reinterpret_cast<std::uint16_t*>(row);
    const unsigned full = (1u << bits_) - 1;
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(header_.width) * header_.channels; ++i)
      to[i] = std::uint16_t((to[i] * full + 32767) / 65535);
  }

 private:
  static constexpr int kDefaultQuality = 95, kLossless = 100;

  int quality() const { return options_.quality.value_or(kDefaultQuality); }

  void require(const heif_error& error) const {
    if (error.code == heif_error_Memory_allocation_error) throw std::bad_alloc();
    if (error.code != heif_error_Ok) fail(words_of(error));
  }

  void find_encoder() {
    const bool hevc = header_.format == FormatId::heic;
    heif_encoder* encoder = nullptr;
    const heif_error error = heif_context_get_encoder_for_format(
        heif_.get(), hevc ? heif_compression_HEVC : heif_compression_AV1, &encoder);
    if (error.code != heif_error_Ok) {
      fail(std::string("libheif has no encoder for it here; install ") +
           (hevc ? "libheif-plugin-x265" : "libheif-plugin-aomenc"));
    }
    encoder_.reset(encoder);
    heif_encoder_set_logging_level(encoder, 0);
    // libheif's own choice, "slow", takes half a minute for 12 megapixels, and saves few bytes.
    // Encoders other than x265 have no such parameter.
    if (hevc) heif_encoder_set_parameter_string(encoder, "preset", "fast");
    require(heif_encoder_set_lossy_quality(encoder, quality()));
    if (quality() == kLossless) require(heif_encoder_set_lossless(encoder, 1));
    const Subsampling subsampling =
        quality() == kLossless ? Subsampling{1, 1} : options_.subsampling.value_or(Subsampling{});
    const char* chroma = subsampling == Subsampling{1, 1}   ? "444"
                         : subsampling == Subsampling{2, 1} ? "422"
                                                            : "420";
    require(heif_encoder_set_parameter_string(encoder, "chroma", chroma));
  }

  /// See take_levels().
  void put_levels() const {
    constexpr std::uint64_t kUnits = 10000;
    const ColourLabel& label = header_.metadata.label;
    if (const ByteView levels = label.light_levels; levels.size() >= 8) {
      const auto candelas = [&](std::size_t at) {
        return std::uint16_t(std::min<std::uint64_t>(number_at(levels, at, 4) / kUnits, 65535));
      };
      const heif_content_light_level light{candelas(0), candelas(4)};
      heif_image_set_content_light_level(pixels_.get(), &light);
    }
    const ByteView mastering = label.mastering;
    if (mastering.size() < 24) return;
    heif_mastering_display_colour_volume volume{};
    const auto half = [&](std::size_t at) { return std::uint16_t(number_at(mastering, at, 2)); };
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t from = 4 * ((i + 1) % 3);  // green, blue and red
      volume.display_primaries_x[i] = half(from);
      volume.display_primaries_y[i] = half(from + 2);
    }
    volume.white_point_x = half(12);
    volume.white_point_y = half(14);
    volume.max_display_mastering_luminance = std::uint32_t(number_at(mastering, 16, 4));
    volume.min_display_mastering_luminance = std::uint32_t(number_at(mastering, 20, 4));
    heif_image_set_mastering_display_colour_volume(pixels_.get(), &volume);
  }

  /// How colours become luma and chroma. Lossless pictures keep red, green and blue as they are.
  Nclx colours() const {
    Nclx nclx(heif_nclx_color_profile_alloc());
    if (!nclx) throw std::bad_alloc();
    const auto codes = header_.metadata.label.codes.value_or(ColourLabel::kSrgb);
    nclx->color_primaries = heif_color_primaries(codes.primaries);
    nclx->transfer_characteristics = heif_transfer_characteristics(codes.transfer);
    nclx->matrix_coefficients = quality() == kLossless && header_.channels > 1
                                    ? heif_matrix_coefficients_RGB_GBR
                                    : heif_matrix_coefficients_ITU_R_BT_601_6;
    nclx->full_range_flag = 1;
    return nclx;
  }

  const WriteOptions options_;
  const Context heif_;
  HeifEncoder encoder_;
  Pixels pixels_;
  std::uint8_t* plane_ = nullptr;
  int stride_ = 0, bits_ = 8;
};

}  // namespace
}  // namespace convfilt

extern "C" const convfilt::CodecModule* module_of_convfilt() {
  static constexpr convfilt::CodecModule kModule{
      convfilt::kModuleInterface,
      {convfilt::open_with<convfilt::HeifReader>, convfilt::create_with<convfilt::HeifWriter>}};
  return &kModule;
}
