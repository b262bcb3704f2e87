/// PNG: pixels by libpng, row by row; compression in strips, by ISA-L where it was found, else
/// zlib.
///
/// Strips are compressed on their own, by several threads at once, and joined to one stream: each
/// begins without a dictionary and ends at a byte (a full flush). All rows are filtered by Sub, as
/// OpenCV does by default, since that filter needs no row above. Rows of a bit a sample stay as
/// they are.
#include <png.h>
#include <zlib.h>

#ifdef CONVFILT_HAS_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "src/base/errors.hpp"
#include "src/picture/byte_order.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/codecs/canvas.hpp"
#include "src/picture/codecs/png/chunks.hpp"
#include "src/picture/image.hpp"
#ifdef CONVFILT_HAS_ISAL
#include "src/picture/codecs/png/stream.hpp"
#endif
#include "src/picture/codecs/parts.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr unsigned char kSignature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

/// How libpng's functions are left, and what they said.
struct Exit {
  std::jmp_buf jump;
  char message[160]{};          ///< libpng's words for what it gave up for
  char damage[160]{};           ///< the first warning that is about damage
  char trouble[160]{};          ///< why the pixels end
  bool ended = false;           ///< the file has no more bytes
  std::exception_ptr thrown{};  ///< by the source, which may not throw through libpng
};

void copy_text(char (&to)[160], const char* from) {
  std::strncpy(to, from, sizeof to - 1);
}

/// Whether a warning of libpng is about damage. Other warnings do not matter to pixels, such as
/// that of transparency beside an alpha channel.
bool tells_damage(const char* warning) {
  if (std::strstr(warning, "with alpha channel")) return false;
  for (const char* words : {"IDAT", "CRC", "ompressed data", "image data", "tRNS"})
    if (std::strstr(warning, words)) return true;
  return false;
}

extern "C" void convfilt_png_error(png_structp png, png_const_charp message) {
  Exit& exit = *static_cast<Exit*>(png_get_error_ptr(png));
  copy_text(exit.message, message);
  std::longjmp(exit.jump, 1);
}

extern "C" void convfilt_png_warning(png_structp png, png_const_charp message) {
  Exit& exit = *static_cast<Exit*>(png_get_error_ptr(png));
  if (!exit.damage[0] && tells_damage(message)) copy_text(exit.damage, message);
}

/// libpng's objects.
struct LibpngReader {
  LibpngReader() = default;
  LibpngReader(const LibpngReader&) = delete;
  LibpngReader& operator=(const LibpngReader&) = delete;
  ~LibpngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

class PngReader : public FirstPictureReader, LibpngReader {
 public:
  PngReader(ByteSource& source, ReadContext& context, const png::Contents& contents)
      : FirstPictureReader(source, context, FormatId::png), buffer_(kBufferBytes) {
#ifdef CONVFILT_HAS_ISAL
    if (contents.pixels_at > 0)
      stored_ = std::make_unique<png::StoredPixels>(source, contents.pixels_at);
#endif
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &exit_, convfilt_png_error,
                                  convfilt_png_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) throw std::bad_alloc();
    read_header(contents);
  }

  void read(PictureView<std::byte> rows) override {
    if (passes_ > 1 && all_.empty()) read_interlaced();
    const std::size_t bytes = row_bytes(header_);
    for (int y = 0; y < rows.height; ++y, ++next_row_) {
      auto* const row = reinterpret_cast<unsigned char*>(rows.row(y));
      if (!all_.empty()) {
        std::memcpy(row, std::as_const(all_).view().row(next_row_), bytes);
      } else if (context_.is_damaged() && gave_up_) {
        std::memset(row, 0, bytes);
      } else if (!attempt(exit_, [&] { png_read_row(png_, row, nullptr); })) {
        // The last row is there when libpng gives up on what follows it.
        if (int(png_get_current_row_number(png_)) <= next_row_) std::memset(row, 0, bytes);
        give_up_at(next_row_);
      } else {
        look_for_damage(next_row_);
      }
    }
  }

  std::int64_t held_bytes() const override {
    return passes_ > 1 ? bytes_of(header_) : 0;
  }

  void finish() override {
    if (gave_up_) return;
    if (!attempt(exit_, [&] { png_read_end(png_, nullptr); })) return give_up_at(header_.height);
    look_for_damage(header_.height);
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

  static void fill(png_structp png, png_bytep to, std::size_t count) {
    auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (!reader.take(to, count))
      png_error(png, reader.exit_.trouble[0] ? reader.exit_.trouble : "it has no more bytes");
  }

  /// The next bytes of the file; false when there are too few.
  bool take(unsigned char* to, std::size_t count) {
    try {
      while (count > 0) {
        if (from_ == filled_) {
          filled_ = more();
          from_ = 0;
          if (filled_ == 0) return false;
        }
        const std::size_t part = std::min(count, filled_ - from_);
        std::memcpy(to, buffer_.data() + from_, part);
        from_ += part, to += part, count -= part;
      }
      return true;
    } catch (...) {
      exit_.thrown = std::current_exception();
      return false;
    }
  }

  /// Fills the buffer; 0 where there is nothing more, and then says why.
  std::size_t more() {
#ifdef CONVFILT_HAS_ISAL
    if (stored_) {
      const std::size_t count = stored_->next(buffer_);
      if (const std::string damage = stored_->take_damage(); !damage.empty() && !exit_.damage[0])
        copy_text(exit_.damage, damage.c_str());
      if (count == 0 && !stored_->trouble().empty())
        copy_text(exit_.trouble, stored_->trouble().c_str());
      exit_.ended = count == 0 && stored_->trouble().empty();
      return count;
    }
#endif
    const std::size_t count = source_.read(offset_, buffer_);
    offset_ += count;
    exit_.ended = count == 0;
    return count;
  }

  void read_header(const png::Contents& contents) {
    png_set_read_fn(png_, this, fill);
    // Sizes are checked by the context.
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    const bool strict = context_.options().refuse_damaged;
    png_set_crc_action(png_, strict ? PNG_CRC_ERROR_QUIT : PNG_CRC_WARN_USE,
                       strict ? PNG_CRC_ERROR_QUIT : PNG_CRC_WARN_DISCARD);
    if (reads_stored()) {  // StoredPixels has checked the checksums, and gives chunks without.
      png_set_crc_action(png_, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
#ifdef PNG_IGNORE_ADLER32  // The stream's checksum is right; where libpng can leave it, that is
                           // faster.
      png_set_option(png_, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
    }
    // contents_of() takes the metadata. libpng would keep all that a small file's texts inflate to.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    if (!attempt(exit_, [&] { png_read_info(png_, info_); })) fail(contents);
    set_size(png_get_image_width(png_, info_), png_get_image_height(png_, info_));
    if (!contents.damage.empty()) context_.damaged(contents.damage);
    take_warning("in its header");

    const int colour = png_get_color_type(png_, info_), bits = png_get_bit_depth(png_, info_);
    const bool key = png_get_valid(png_, info_, PNG_INFO_tRNS);
    const bool grey = colour == PNG_COLOR_TYPE_GRAY;
    if (contents.frames > 1 || (contents.frames == 1 && contents.begins_with_frame))
      header_.pages = contents.frames;
    else if (contents.is_animated)
      context_.leaves_out("only the first picture of this animated PNG is read");
    if (contents.frames > 1)
      header_.frame = Frame{contents.loops, contents.first->time, contents.first->per_second};
    header_.channels = grey && !key ? 1 : (colour & PNG_COLOR_MASK_ALPHA) || key ? 4 : 3;
    header_.depth = bits == 16 ? Depth::u16 : Depth::u8;
    stored_bits_ = std::uint64_t(bits) * png_get_channels(png_, info_);
    header_.metadata = contents.metadata;
    if (contents.lost_profile) context_.warn(kDamagedProfile);
    if (!contents.metadata.exif.empty())
      header_.orientation = exif_orientation(contents.metadata.exif);

    const bool has_palette = colour == PNG_COLOR_TYPE_PALETTE;
    if (has_palette) take_palette();
    const bool done = attempt(exit_, [&] {
      if (has_palette) {
        png_set_packing(png_);
        png_set_read_user_transform_fn(png_, convert_indices);
        png_set_user_transform_info(png_, this, 8, header_.channels);
      }
      if (grey) png_set_expand_gray_1_2_4_to_8(png_);
      if (key && !has_palette) png_set_tRNS_to_alpha(png_);
      if (!(colour & PNG_COLOR_MASK_COLOR) && header_.channels > 1) png_set_gray_to_rgb(png_);
      if (header_.channels > 1) png_set_bgr(png_);
      if (bits == 16 && kHostIsLittle) png_set_swap(png_);
      passes_ = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    if (!done) fail(contents);
  }

  /// Passes of an interlaced picture fill in between the rows of those before.
  void read_interlaced() {
    check_interlaced();
    all_ = Image(header_.width, header_.height, header_.channels, header_.depth);
    const PictureView<std::byte> view = all_.view();
    for (int y = 0; y < view.height; ++y) std::memset(view.row(y), 0, all_.row_bytes());
    for (int pass = 0; pass < passes_; ++pass) {
      for (int y = 0; y < view.height; ++y) {
        auto* const row = reinterpret_cast<unsigned char*>(view.row(y));
        if (!attempt(exit_, [&] { png_read_row(png_, row, nullptr); })) return give_up_at(y);
        look_for_damage(y);
      }
      first_pass_ = false;
    }
  }

  /// The picture is held until its last pass, and deflate makes no more than 1032 bytes of one, so
  /// a small file cannot have it all.
  void check_interlaced() {
    constexpr std::uint64_t kMostInflated = 1032;
    context_.check_memory(std::uint64_t(bytes_of(header_)));
    const std::uint64_t stored =
        std::uint64_t(header_.width) * std::uint64_t(header_.height) * stored_bits_ / 8;
    if (stored / kMostInflated <= source_.size()) return;
    give_up(cannot_hold(source_.size(), header_));
  }

  bool reads_stored() const {
#ifdef CONVFILT_HAS_ISAL
    return stored_ != nullptr;
#else
    return false;
#endif
  }

  std::string place(int row) const {
    return row < header_.height ? row_text(row, header_.height) : "after its last row";
  }

  /// Reports why no more rows can be read.
  void give_up_at(int row) {
    gave_up_ = true;
    if (exit_.thrown) std::rethrow_exception(exit_.thrown);
    const std::string why =
        exit_.ended ? ends_early(place(row)) : data_damaged(place(row) + ": " + exit_.message);
    if (row == 0 && first_pass_) give_up(why);
    context_.damaged(why);
  }

  void look_for_damage(int row) {
    take_warning(place(row));
    const int index = std::exchange(foreign_colour_, -1);
    if (index < 0) return;
    context_.damaged(data_damaged(place(row) + ": " + foreign_colour(index, colour_count_)));
  }

  /// libpng takes indices beyond the palette for black without a word, so indices become colours
  /// here.
  void take_palette() {
    png_colorp colours = nullptr;
    png_bytep alphas = nullptr;
    int alpha_count = 0;
    png_get_PLTE(png_, info_, &colours, &colour_count_);
    png_get_tRNS(png_, info_, &alphas, &alpha_count, nullptr);
    for (int i = 0; i < colour_count_; ++i) {
      const unsigned char alpha = i < alpha_count ? alphas[i] : 255;
      palette_[std::size_t(i)] = {colours[i].blue, colours[i].green, colours[i].red, alpha};
    }
  }

  /// libpng calls it with a row, or what a pass has of one: an index a byte, and room for colours.
  static void convert_indices(png_structp png, png_row_infop row, png_bytep data) {
    auto& reader = *static_cast<PngReader*>(png_get_user_transform_ptr(png));
    const auto channels = std::size_t(reader.header_.channels);
    for (std::size_t x = row->width; x-- > 0;) {
      const unsigned char index = data[x];
      if (index >= reader.colour_count_) reader.foreign_colour_ = index;
      std::copy_n(reader.palette_[index].begin(), channels, data + x * channels);
    }
  }

  void take_warning(const std::string& where) {
    if (!exit_.damage[0]) return;
    context_.damaged(data_damaged(where + ": " + exit_.damage));
    exit_.damage[0] = 0;
  }

  /// Without a header nothing can be read, even with --on-damage=warn.
  [[noreturn]] void fail(const png::Contents& contents) {
    if (exit_.thrown) std::rethrow_exception(exit_.thrown);
    const std::string why = !contents.damage.empty() ? contents.damage
                            : exit_.ended
                                ? ends_early("in its header")
                                : "its header is damaged (" + std::string(exit_.message) + ")";
    give_up(why);
  }

  Exit exit_;
#ifdef CONVFILT_HAS_ISAL
  std::unique_ptr<png::StoredPixels> stored_;
#endif
  Bytes buffer_;
  std::size_t from_ = 0, filled_ = 0;  ///< what of the buffer is still to be taken
  std::uint64_t offset_ = 0;           ///< of the buffer's end in the file
  std::uint64_t stored_bits_ = 0;      ///< of a pixel
  std::array<std::array<unsigned char, 4>, 256> palette_{};  ///< blue, green, red, alpha
  int colour_count_ = 0;
  int foreign_colour_ = -1;  ///< an index beyond the palette in the latest row; -1 if there is none
  int passes_ = 1;
  int next_row_ = 0;
  bool gave_up_ = false;
  bool first_pass_ = true;  ///< so without row 0 there is nothing
  Image all_;               ///< of an interlaced picture
};

/// The frames of an animation. Each becomes a PNG that PngReader decodes.
class AnimatedPngReader : public AnimationReader {
 public:
  AnimatedPngReader(ByteSource& source, ReadContext& context, const png::Contents& contents)
      : AnimationReader(source, context, FormatId::png), frame_(*contents.first) {
    header_ = PngReader(source, context, contents).header();
    const FramePlace& place = frame_.place;
    const bool covers = place.x == 0 && place.y == 0 && place.width == header_.width &&
                        place.height == header_.height;
    if (!covers || contents.clears) header_.channels = 4;
    if (!contents.begins_with_frame)
      context.leaves_out("its still picture, which is no frame of its animation, is not read");
    begin_animation();
  }

  /// The canvas, what a frame restores, and a frame; and the frame's bytes.
  std::int64_t held_bytes() const override {
    constexpr std::int64_t kPictures = 3, kChannels = 4;
    return file_bytes_ + kPictures * kChannels * std::int64_t{header_.width} * header_.height *
                             std::int64_t(size_of(header_.depth));
  }

 private:
  void decode() override {
    if (canvas_.empty()) find_frame();
    AnimationReader::decode();
  }

  /// Goes on to the chunk that begins the next frame, and keeps those that all frames need.
  bool find_frame() override {
    while (const auto chunk = next_chunk()) {
      if (chunk->type == "IHDR") head_ = chunk->data;
      if (chunk->type == "PLTE" || chunk->type == "tRNS") shared_.push_back(*chunk);
      const auto frame = chunk->type == "fcTL" ? png::frame_control(chunk->data) : std::nullopt;
      if (!frame) continue;
      frame_ = *frame;
      header_.frame->time = frame_.time;
      header_.frame->per_second = frame_.per_second;
      return true;
    }
    return false;
  }

  void lay_frame() override {
    const FramePlace& place = frame_.place;
    if (place.width < 1 || place.height < 1 || place.x > header_.width - place.width ||
        place.y > header_.height - place.height)
      return context_.damaged(data_damaged("a frame lies outside the picture"));
    const Bytes png = png_of_frame();
    const std::unique_ptr<ByteSource> source = source_of(png);
    try {
      PngReader reader(*source, context_, png::contents_of(*source));
      const Header& header = reader.header();
      Image image(header.width, header.height, header.channels, header.depth);
      reader.read(image.view());
      if (!context_.is_damaged()) reader.finish();
      canvas_.lay(std::as_const(image).view(), place);
    } catch (const IoError&) {
      if (context_.options().refuse_damaged || !context_.is_damaged()) throw;
    }
  }

  /// A file of the frame's pixels.
  Bytes png_of_frame() {
    MemorySink sink;
    constexpr std::size_t kNumber = 4;  // bytes before a later frame's pixels
    sink.append(kSignature);
    Bytes head;
    for (const int side : {frame_.place.width, frame_.place.height})
      append_big_endian(head, std::uint64_t(side));
    head.insert(head.end(), head_.begin() + std::ptrdiff_t(head.size()), head_.end());
    png::append_chunk(sink, "IHDR", head);
    bool has_begun = false;
    while (true) {
      const std::uint64_t before = at_;
      const auto chunk = next_chunk();
      const bool is_later = chunk && chunk->type == "fdAT" && chunk->data.size() >= kNumber;
      if (chunk && !has_begun && (chunk->type == "PLTE" || chunk->type == "tRNS"))
        shared_.push_back(*chunk);
      if (is_later || (chunk && chunk->type == "IDAT")) {
        if (!std::exchange(has_begun, true))
          for (const Metadata::Chunk& shared : shared_)
            png::append_chunk(sink, shared.type, shared.data);
        png::append_chunk(sink, "IDAT", std::span(chunk->data).subspan(is_later ? kNumber : 0));
      } else if (!chunk || chunk->type == "fcTL" || chunk->type == "IEND") {
        at_ = before;
        break;
      }
    }
    png::append_chunk(sink, "IEND", {});
    return sink.bytes();
  }

  std::optional<Metadata::Chunk> next_chunk() {
    std::array<unsigned char, 8> head{};
    if (source_.read(at_, head) < head.size()) return std::nullopt;
    const std::uint64_t length = big_endian(head, 0);
    if (length > source_.size() - at_) return std::nullopt;
    Metadata::Chunk chunk{std::string(head.begin() + 4, head.end()), Bytes(std::size_t(length))};
    if (source_.read(at_ + head.size(), chunk.data) < length) return std::nullopt;
    at_ += length + 12;  // with its length, type and checksum
    return chunk;
  }

  png::FrameControl frame_;
  Bytes head_;                           ///< the file's IHDR
  std::vector<Metadata::Chunk> shared_;  ///< that stand before the pixels of each frame
  std::uint64_t at_ = 8;                 ///< behind the signature
};

std::unique_ptr<RowReader> open_png(ByteSource& source, ReadContext& context) {
  const png::Contents contents = png::contents_of(source);
  if (contents.frames > 1 && reads_frames(context.options()))
    return std::make_unique<AnimatedPngReader>(source, context, contents);
  return std::make_unique<PngReader>(source, context, contents);
}

/// Adler-32, by which zlib's streams are checked.
std::uint32_t checksum_of(ByteView bytes) {
#ifdef CONVFILT_HAS_ISAL
  return isal_adler32(1, bytes.data(), bytes.size());
#else
  return std::uint32_t(adler32_z(1, bytes.data(), bytes.size()));
#endif
}

/// Calls `step` until all of `raw` is deflated. `stream` is zlib's or ISA-L's.
template <class Stream, class Step>
Bytes deflated_by(Stream& stream, ByteView raw, const Step& step) {
  Bytes out(raw.size() + raw.size() / 8 + 1024);
  std::size_t size = 0;
  stream.next_in = const_cast<unsigned char*>(raw.data());
  stream.avail_in = std::uint32_t(raw.size());
  do {
    if (size == out.size()) out.resize(2 * out.size());
    stream.next_out = out.data() + size;
    stream.avail_out = std::uint32_t(out.size() - size);
    step();
    size = out.size() - stream.avail_out;
  } while (stream.avail_out == 0);
  out.resize(size);
  return out;
}

/// Deflates with a full flush, so that strips can follow each other. Level -1 is the fastest that
/// is there. `filtered` is for rows that are filtered.
Bytes deflated(ByteView raw, int level, bool filtered) {
#ifdef CONVFILT_HAS_ISAL
  if (level < 0) {
    // Filtered photographs have runs and hardly other repetitions: matches from further away are
    // short, and cost more bits than the samples themselves.
    constexpr int kLevel = 1, kHistoryBits = 1;
    const auto work = std::make_unique_for_overwrite<std::uint8_t[]>(ISAL_DEF_LVL1_DEFAULT);
    isal_zstream stream;
    isal_deflate_init(&stream);
    stream.level = kLevel;
    if (filtered) stream.hist_bits = kHistoryBits;
    stream.level_buf = work.get();
    stream.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    stream.flush = FULL_FLUSH;
    stream.end_of_stream = 0;
    return deflated_by(stream, raw, [&] {
      if (isal_deflate(&stream) != COMP_OK) throw std::runtime_error("ISA-L cannot compress");
    });
  }
#endif
  z_stream stream{};
  constexpr int kRaw = -15, kMemory = 8;
  const bool fastest = level < 0;
  if (deflateInit2(&stream, fastest ? Z_BEST_SPEED : level, Z_DEFLATED, kRaw, kMemory,
                   !filtered ? Z_DEFAULT_STRATEGY
                   : fastest ? Z_RLE
                             : Z_FILTERED) != Z_OK)
    throw std::bad_alloc();
  Bytes out = deflated_by(stream, raw, [&] { deflate(&stream, Z_FULL_FLUSH); });
  deflateEnd(&stream);
  return out;
}

/// Filters a row by Sub: each byte less that of the pixel before. Bytes stand as PNG stores them,
/// in RGB(A), most significant first.
template <class T, int kChannels>
void subtract(const T* row, int width, unsigned char* __restrict out) {
  T before[kChannels] = {};
  for (int x = 0; x < width; ++x, row += kChannels) {
    for (int c = 0; c < kChannels; ++c) {
      const T sample = row[kChannels >= 3 && c < 3 ? 2 - c : c];
      if constexpr (sizeof(T) == 2)
        *out++ = static_cast<unsigned char>((sample >> 8) - (before[c] >> 8));
      *out++ = static_cast<unsigned char>(sample - before[c]);
      before[c] = sample;
    }
  }
}

template <class T>
void subtract(const T* row, int channels, int width, unsigned char* out) {
  switch (channels) {
    case 1: return subtract<T, 1>(row, width, out);
    case 3: return subtract<T, 3>(row, width, out);
    default: return subtract<T, 4>(row, width, out);
  }
}

class PngWriter : public RowWriter {
 public:
  PngWriter(ByteSink& sink, const Header& header, const WriteOptions& options)
      : sink_(sink),
        header_(header),
        level_(options.compression.value_or(-1)),
        row_(stored_row_bytes(header)),
        checksum_(checksum_of({})) {
    sink_.append(kSignature);
    Bytes chunk;
    for (const int side : {header.width, header.height})
      append_big_endian(chunk, std::uint64_t(side));
    const int colour = header.channels == 1   ? PNG_COLOR_TYPE_GRAY
                       : header.channels == 3 ? PNG_COLOR_TYPE_RGB
                                              : PNG_COLOR_TYPE_RGB_ALPHA;
    // Then follow the kinds of compression, filters and interlacing, of which there is none.
    chunk.insert(chunk.end(), {static_cast<unsigned char>(bits_of_sample(header)),
                               static_cast<unsigned char>(colour), 0, 0, 0});
    png::append_chunk(sink_, "IHDR", chunk);
    png::append_metadata(sink_, header.metadata);
    if (!header.frame) return;
    Bytes animation;
    append_big_endian(animation, std::uint64_t(header.pages));
    append_big_endian(animation, std::uint64_t(header.frame->loops));
    animation_at_ = sink_.size();
    png::append_chunk(sink_, "acTL", animation);
    append_frame();
  }

  void next(const Header& header) override {
    end_pixels();
    header_.frame = header.frame;
    ++frames_;
    append_frame();
  }

  int rows_at_a_time() const override {
    constexpr std::size_t kStrip = std::size_t{1} << 19;
    return int(rows_of_strip(header_, kStrip));
  }

  EncodedRows encode(PictureView<const std::byte> rows, int) const override {
    const std::size_t size = std::size_t(rows.height) * (row_ + 1);
    // Strips are of one size, so a buffer that stays spares fresh pages for each of them.
    thread_local Bytes raw;
    if (raw.size() < size) raw.resize(size);
    for (int y = 0; y < rows.height; ++y) {
      unsigned char* const line = raw.data() + std::size_t(y) * (row_ + 1);
      line[0] = header_.two_levels ? PNG_FILTER_VALUE_NONE : PNG_FILTER_VALUE_SUB;
      if (header_.two_levels) {
        pack_row(rows.row(y), header_, line + 1);
      } else if (header_.depth == Depth::u8) {
        subtract(row_of<std::uint8_t>(rows, y), rows.channels, rows.width, line + 1);
      } else {
        subtract(row_of<std::uint16_t>(rows, y), rows.channels, rows.width, line + 1);
      }
    }
    EncodedRows encoded;
    encoded.length = size;
    encoded.checksum = checksum_of({raw.data(), size});
    encoded.bytes = deflated({raw.data(), size}, level_, !header_.two_levels);
    return encoded;
  }

  void write(PictureView<const std::byte>, EncodedRows encoded) override {
    if (!started_) {
      // A window of 32 KiB, and the header's own checksum.
      encoded.bytes.insert(encoded.bytes.begin(), {0x78, 0x01});
      started_ = true;
    }
    append_pixels(encoded.bytes);
    checksum_ =
        std::uint32_t(adler32_combine(checksum_, encoded.checksum, z_off_t(encoded.length)));
  }

  void finish() override {
    end_pixels();
    png::append_chunk(sink_, "IEND", {});
    // A file that was cut has fewer frames than it says.
    if (!header_.frame || frames_ == header_.pages) return;
    MemorySink animation;
    Bytes data;
    append_big_endian(data, std::uint64_t(frames_));
    append_big_endian(data, std::uint64_t(header_.frame->loops));
    png::append_chunk(animation, "acTL", data);
    sink_.write(animation_at_, animation.bytes());
  }

 private:
  /// The time and place of a frame, which covers the picture and replaces the one before.
  void append_frame() {
    constexpr int kMost = 65535;
    Frame frame = *header_.frame;
    while (frame.time > kMost && frame.per_second > 1) {
      frame.time = (frame.time + 5) / 10;
      frame.per_second = (frame.per_second + 5) / 10;
    }
    Bytes control;
    append_big_endian(control, number_++);
    for (const int side : {header_.width, header_.height, 0, 0})
      append_big_endian(control, std::uint64_t(side));
    append_big_endian(control, std::uint64_t(std::min(frame.time, kMost)), 2);
    append_big_endian(control, std::uint64_t(frame.per_second), 2);
    append_big_endian(control, 0, 2);  // disposal and blending
    png::append_chunk(sink_, "fcTL", control);
  }

  void append_pixels(const Bytes& bytes) {
    if (frames_ == 1) return png::append_chunk(sink_, "IDAT", bytes);
    Bytes numbered;
    append_big_endian(numbered, number_++);
    numbered.insert(numbered.end(), bytes.begin(), bytes.end());
    png::append_chunk(sink_, "fdAT", numbered);
  }

  void end_pixels() {
    Bytes end = {0x03, 0x00};  // an empty last block
    append_big_endian(end, checksum_);
    append_pixels(end);
    checksum_ = checksum_of({});
    started_ = false;
  }

  ByteSink& sink_;
  Header header_;
  int level_;
  std::size_t row_;  ///< bytes
  std::uint32_t checksum_;
  bool started_ = false;
  int frames_ = 1;                  ///< of an animation, this one included
  std::uint32_t number_ = 0;        ///< of the next chunk about frames
  std::uint64_t animation_at_ = 0;  ///< where the number of frames stands
};

}  // namespace

const Codec kPngCodec{open_png, create_with<PngWriter>};

}  // namespace convfilt
