/// GIF, by giflib: the first picture of a file, on its logical screen. It is only read.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/picture/modules.hpp"
#include "src/picture/whole.hpp"

namespace convfilt {
namespace {

/// What the blocks of a file say, without its pixels.
struct Blocks {
  int screen_width = 0, screen_height = 0;
  int left = 0, top = 0, width = 0, height = 0;  ///< of the first picture
  int transparent = NO_TRANSPARENT_COLOR;        ///< its index in the colours of that picture
  int pictures = 0;
  std::size_t rubbish = 0;  ///< bytes behind the trailer, unless they are zeros
  bool is_cut = false;
};

/// Walks over all blocks. A file that ends before its trailer was cut.
Blocks walk(std::span<const unsigned char> bytes) {
  constexpr unsigned kExtension = 0x21, kPicture = 0x2C, kTrailer = 0x3B;
  std::size_t at = 6;  // behind the signature
  Blocks blocks;
  const auto byte = [&]() -> unsigned {
    if (at < bytes.size()) return bytes[at++];
    blocks.is_cut = true;
    return 0;
  };
  const auto word = [&] {
    const unsigned low = byte();
    return int(low | byte() << 8);
  };
  const auto skip_colours = [&](unsigned flags) {
    if (flags & 0x80) at += std::size_t{3} << ((flags & 7) + 1);
  };
  const auto skip_data = [&] {
    while (const unsigned length = byte()) at += length;
  };
  blocks.screen_width = word();
  blocks.screen_height = word();
  const unsigned screen_flags = byte();
  at += 2;  // background colour and aspect ratio
  skip_colours(screen_flags);
  while (!blocks.is_cut) {
    const unsigned kind = byte();
    if (kind == kTrailer) {
      const std::span<const unsigned char> rest = bytes.subspan(at);
      if (std::any_of(rest.begin(), rest.end(), [](unsigned char b) { return b != 0; }))
        blocks.rubbish = rest.size();
      break;
    }
    if (kind == kExtension) {
      const bool graphics = byte() == GRAPHICS_EXT_FUNC_CODE;
      if (graphics && blocks.pictures == 0 && at + 5 <= bytes.size() && bytes[at] == 4)
        blocks.transparent = bytes[at + 1] & 1 ? bytes[at + 4] : NO_TRANSPARENT_COLOR;
      skip_data();
    } else if (kind == kPicture) {
      const int left = word(), top = word(), width = word(), height = word();
      if (blocks.pictures++ == 0) {
        blocks.left = left;
        blocks.top = top;
        blocks.width = width;
        blocks.height = height;
      }
      skip_colours(byte());
      byte();  // the first code's length
      skip_data();
    } else if (kind != 0) {  // zeros between blocks are common and mean nothing
      blocks.is_cut = true;
    }
  }
  return blocks;
}

/// giflib's reader of bytes in memory.
struct Stream {
  std::span<const unsigned char> rest;
};

int read_stream(GifFileType* file, GifByteType* into, int count) {
  auto& rest = static_cast<Stream*>(file->UserData)->rest;
  const std::size_t copied = std::min(rest.size(), std::size_t(count));
  std::copy_n(rest.begin(), copied, into);
  rest = rest.subspan(copied);
  return int(copied);
}

struct Close {
  void operator()(GifFileType* file) const { DGifCloseFile(file, nullptr); }
};

class GifReader : public WholeReader {
 public:
  GifReader(ByteSource& source, ReadContext& context)
      : WholeReader(source), source_(source), context_(context) {
    check_first_page(context, FormatId::gif);
    blocks_ = walk(context.whole(source));
    if (blocks_.pictures == 0) fail_with_nothing(context, FormatId::gif, kNoPicture);
    // Some writers leave the screen without a size, and mean that of the picture.
    const bool sized = blocks_.screen_width > 0 && blocks_.screen_height > 0;
    header_.format = FormatId::gif;
    header_.width = sized ? blocks_.screen_width : blocks_.left + blocks_.width;
    header_.height = sized ? blocks_.screen_height : blocks_.top + blocks_.height;
    const bool covered = blocks_.left == 0 && blocks_.top == 0 && blocks_.width >= header_.width &&
                         blocks_.height >= header_.height;
    header_.channels = covered && blocks_.transparent == NO_TRANSPARENT_COLOR ? 3 : 4;
    context.check_size(header_.width, header_.height);
    context.check_size(blocks_.width, blocks_.height);
    check_memory();
    if (blocks_.is_cut) {
      context.damaged("the file ends too early (after " + std::to_string(source.size()) +
                      " bytes, without an end mark)");
    }
    if (blocks_.rubbish > 0) context.damaged(bytes_follow(blocks_.rubbish));
    if (blocks_.pictures > 1) {
      context.warn("only the first of its " + std::to_string(blocks_.pictures) +
                   " pictures is read: it is an animated GIF");
    }
  }

  std::int64_t held_bytes() const override {
    return file_bytes_ + std::int64_t{blocks_.width} * blocks_.height;
  }

 protected:
  void decode() override {
    stream_.rest = source_.whole();
    int error = 0;
    const std::unique_ptr<GifFileType, Close> file(DGifOpen(&stream_, read_stream, &error));
    if (!file) nothing(error);
    GifRecordType kind = UNDEFINED_RECORD_TYPE;
    while (kind != IMAGE_DESC_RECORD_TYPE) {
      if (DGifGetRecordType(file.get(), &kind) == GIF_ERROR) nothing(file->Error);
      if (kind == TERMINATE_RECORD_TYPE) fail_with_nothing(context_, FormatId::gif, kNoPicture);
      if (kind == EXTENSION_RECORD_TYPE) skip_extension(*file);
    }
    if (DGifGetImageDesc(file.get()) == GIF_ERROR) nothing(file->Error);
    const ColorMapObject* map = file->Image.ColorMap ? file->Image.ColorMap : file->SColorMap;
    if (!map) fail_with_nothing(context_, FormatId::gif, "it has no table of colours");
    colours_.assign(map->Colors, map->Colors + map->ColorCount);
    decode_rows(*file);
    if (std::find(is_decoded_.begin(), is_decoded_.end(), true) == is_decoded_.end())
      nothing(file->Error);
  }

  void copy_row(int y, std::byte* to) const override {
    const int channels = header_.channels;
    std::memset(to, 0, std::size_t(header_.width) * std::size_t(channels));
    const int row = y - blocks_.top;
    if (row < 0 || row >= blocks_.height || !is_decoded_[std::size_t(row)]) return;
    const GifPixelType* from = indices_of(row);
    for (int x = 0; x < blocks_.width && x + blocks_.left < header_.width; ++x) {
      const std::size_t index = from[x];
      if (int(index) == blocks_.transparent || index >= colours_.size()) continue;
      std::byte* pixel = to + std::ptrdiff_t(x + blocks_.left) * channels;
      pixel[0] = std::byte{colours_[index].Blue};
      pixel[1] = std::byte{colours_[index].Green};
      pixel[2] = std::byte{colours_[index].Red};
      if (channels == 4) pixel[3] = std::byte{255};
    }
  }

 private:
  static constexpr char kNoPicture[] = "the file ends too early (no picture in it)";

  static std::string words_of(int error) {
    const char* text = GifErrorString(error);
    return text ? text : "giflib gave up";
  }

  /// A few bytes can name a screen of any size around a picture of one pixel.
  void check_memory() const {
    const auto area = [](int width, int height) {
      return std::uint64_t(width) * std::uint64_t(height);
    };
    check_canvas(context_, area(header_.width, header_.height),
                 area(blocks_.width, blocks_.height));
  }

  [[noreturn]] void nothing(int error) {
    fail_with_nothing(context_, FormatId::gif, "its data is damaged (" + words_of(error) + ")");
  }

  void skip_extension(GifFileType& file) {
    int code = 0;
    GifByteType* data = nullptr;
    if (DGifGetExtension(&file, &code, &data) == GIF_ERROR) nothing(file.Error);
    while (data) {
      if (DGifGetExtensionNext(&file, &data) == GIF_ERROR) nothing(file.Error);
    }
  }

  const GifPixelType* indices_of(int row) const {
    return indices_.data() + std::size_t(row) * std::size_t(blocks_.width);
  }

  void decode_rows(GifFileType& file) {
    indices_.resize(std::size_t(blocks_.width) * std::size_t(blocks_.height));
    is_decoded_.resize(std::size_t(blocks_.height));
    struct Pass {
      int first, step;
    };
    constexpr Pass kInterlaced[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}}, kWhole[] = {{0, 1}};
    const std::span<const Pass> passes =
        file.Image.Interlace ? std::span<const Pass>(kInterlaced) : std::span<const Pass>(kWhole);
    for (const Pass pass : passes) {
      for (int row = pass.first; row < blocks_.height; row += pass.step) {
        if (DGifGetLine(&file, &indices_[std::size_t(row) * std::size_t(blocks_.width)],
                        blocks_.width) == GIF_ERROR) {
          context_.damaged("its data is damaged (row " + std::to_string(row) + " of " +
                           std::to_string(blocks_.height) + ": " + words_of(file.Error) + ")");
          return;
        }
        is_decoded_[std::size_t(row)] = true;
      }
    }
  }

  ByteSource& source_;
  ReadContext& context_;
  Blocks blocks_;
  Stream stream_;
  std::vector<GifColorType> colours_;
  std::vector<GifPixelType> indices_;  ///< of the picture's pixels, by rows
  std::vector<bool> is_decoded_;       ///< by rows
};

std::unique_ptr<RowReader> open(ByteSource& source, ReadContext& context) {
  return std::make_unique<GifReader>(source, context);
}

constexpr Codec kGifCodec{open, nullptr};

const Codec* codec(FormatId format) {
  return format == FormatId::gif ? &kGifCodec : nullptr;
}

}  // namespace
}  // namespace convfilt

extern "C" const convfilt::CodecModule* module_of_convfilt() {
  static constexpr convfilt::CodecModule kModule{convfilt::kModuleInterface, convfilt::codec};
  return &kModule;
}
