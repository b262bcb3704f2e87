/// GIF: the first picture of a file, on its logical screen. It is only read.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/picture/codecs/parts.hpp"
#include "src/picture/modules.hpp"

namespace convfilt {
namespace {

using Bytes = std::span<const unsigned char>;

/// A picture on the screen.
struct Frame {
  int left = 0, top = 0, width = 0, height = 0;
  int transparent = -1;  ///< its index in the colours; -1 where there is none
  bool interlaced = false;
  Bytes colours;  ///< three bytes each
  Bytes data;     ///< the bits of the first codes, then blocks of codes
};

/// The contents of a file's blocks, without its pixels.
struct Blocks {
  int screen_width = 0, screen_height = 0;
  Frame first;
  int pictures = 0;
  std::size_t rubbish = 0;  ///< bytes behind the trailer, unless they are zeros
  bool is_cut = false;
};

/// Walks over all blocks. A file that ends before its trailer was cut.
Blocks walk(Bytes bytes) {
  constexpr unsigned kExtension = 0x21, kPicture = 0x2C, kTrailer = 0x3B, kGraphics = 0xF9;
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
  const auto rest = [&] { return bytes.subspan(std::min(at, bytes.size())); };
  const auto colours = [&](unsigned flags) {
    if (!(flags & 0x80)) return Bytes();
    const std::size_t size = std::size_t{3} << ((flags & 7) + 1);
    const Bytes table = rest().first(std::min(size, rest().size()));
    at += size;
    return table;
  };
  const auto skip_data = [&] {
    while (const unsigned length = byte()) at += length;
  };
  blocks.screen_width = word();
  blocks.screen_height = word();
  const unsigned screen_flags = byte();
  at += 2;  // background colour and aspect ratio
  const Bytes screen_colours = colours(screen_flags);
  int transparent = -1;
  while (!blocks.is_cut) {
    const unsigned kind = byte();
    if (kind == kTrailer) {
      if (!has_only_zeros(rest())) blocks.rubbish = rest().size();
      break;
    }
    if (kind == kExtension) {
      const bool graphics = byte() == kGraphics;
      if (graphics && at + 5 <= bytes.size() && bytes[at] == 4)
        transparent = bytes[at + 1] & 1 ? bytes[at + 4] : -1;
      skip_data();
    } else if (kind == kPicture) {
      Frame frame{word(), word(), word(), word(), transparent, false, {}, {}};
      const unsigned flags = byte();
      frame.interlaced = flags & 0x40;
      frame.colours = colours(flags);
      if (frame.colours.empty()) frame.colours = screen_colours;
      frame.data = rest();
      if (blocks.pictures++ == 0) blocks.first = frame;
      byte();  // the first code's length
      skip_data();
    } else if (kind != 0) {  // zeros between blocks are common and mean nothing
      blocks.is_cut = true;
    }
  }
  return blocks;
}

/// The codes of a picture, which lie in blocks, each with its length before it.
class Codes {
 public:
  explicit Codes(Bytes blocks) : rest_(blocks) {}

  /// The next code; nothing behind the last one.
  std::optional<unsigned> next(int bits) {
    for (; filled_ < bits; filled_ += 8) {
      if (left_ == 0 && !rest_.empty()) {
        left_ = rest_.front();
        rest_ = rest_.subspan(1);
      }
      if (left_ == 0 || rest_.empty()) return std::nullopt;
      held_ |= unsigned{rest_.front()} << filled_;
      rest_ = rest_.subspan(1);
      --left_;
    }
    const unsigned code = held_ & ((1u << bits) - 1);
    held_ >>= bits;
    filled_ -= bits;
    return code;
  }

 private:
  Bytes rest_;
  std::size_t left_ = 0;  ///< bytes of the block
  unsigned held_ = 0;
  int filled_ = 0;  ///< bits
};

/// Strings of indices by their codes (LZW): each is an earlier one and one more index.
class Strings {
 public:
  /// `bits` are those of an index.
  explicit Strings(int bits) : clear_(1u << bits), first_bits_(bits + 1) { reset(); }

  unsigned clear() const { return clear_; }
  unsigned end() const { return clear_ + 1; }
  int bits() const { return bits_; }  ///< of the next code

  void reset() {
    count_ = clear_ + 2;
    bits_ = first_bits_;
    before_.reset();
  }

  /// Takes the code of a string; false if there is no such string yet. Then it takes the string
  /// that the code before promised instead.
  bool take(unsigned code) {
    const bool may_be_new = before_ && count_ < kMost;
    const bool is_known = code < clear_ || (code > end() && code < count_);
    const bool is_right = is_known || (may_be_new && code == count_);
    if (!is_right) code = may_be_new ? count_ : 0;
    if (may_be_new) {
      entries_[count_].before = *before_;
      entries_[count_].last = first_of(code == count_ ? *before_ : code);
      if (++count_ == 1u << bits_ && count_ < kMost) ++bits_;
    }
    before_ = code;
    return is_right;
  }

  /// The string that take() took.
  Bytes string() {
    std::size_t at = string_.size();
    unsigned code = *before_;
    for (; code >= clear_; code = entries_[code].before) string_[--at] = entries_[code].last;
    string_[--at] = static_cast<unsigned char>(code);
    return Bytes(string_).subspan(at);
  }

 private:
  static constexpr unsigned kMost = 4096;
  struct Entry {
    unsigned before = 0;
    unsigned char last = 0;
  };

  unsigned char first_of(unsigned code) const {
    while (code >= clear_) code = entries_[code].before;
    return static_cast<unsigned char>(code);
  }

  unsigned clear_, count_ = 0;
  int first_bits_, bits_ = 0;
  std::optional<unsigned> before_;
  std::array<Entry, kMost> entries_;
  std::array<unsigned char, kMost> string_;
};

class GifReader : public WholeReader {
 public:
  GifReader(ByteSource& source, ReadContext& context)
      : WholeReader(source, context, FormatId::gif) {
    const Blocks blocks = walk(context.whole(source));
    if (blocks.pictures == 0) give_up(ends_early("no picture in it"));
    frame_ = blocks.first;
    // Some writers give the screen no size, and mean the picture's.
    const bool sized = blocks.screen_width > 0 && blocks.screen_height > 0;
    header_.width = sized ? blocks.screen_width : frame_.left + frame_.width;
    header_.height = sized ? blocks.screen_height : frame_.top + frame_.height;
    const bool covered = frame_.left == 0 && frame_.top == 0 && frame_.width >= header_.width &&
                         frame_.height >= header_.height;
    header_.channels = covered && frame_.transparent < 0 ? 3 : 4;
    context.check_size(header_.width, header_.height);
    context.check_size(frame_.width, frame_.height);
    check_canvas(context, header_, frame_.width, frame_.height);
    if (blocks.is_cut)
      context.damaged(
          ends_early("after " + std::to_string(source.size()) + " bytes, without an end mark"));
    if (blocks.rubbish > 0) context.damaged(bytes_follow(blocks.rubbish));
    if (blocks.pictures > 1) {
      context.leaves_out("only the first of its " + std::to_string(blocks.pictures) +
                         " pictures is read: it is an animated GIF");
    }
  }

  std::int64_t held_bytes() const override {
    return file_bytes_ + std::int64_t{frame_.width} * frame_.height;
  }

 protected:
  void decode() override {
    if (frame_.colours.empty()) give_up("it has no table of colours");
    constexpr int kMostBits = 8;
    const int bits = frame_.data.empty() ? 0 : frame_.data.front();
    if (bits < 1 || bits > kMostBits)
      give_up(data_damaged("indices of " + std::to_string(bits) + " bits"));
    order_rows();
    indices_.resize(std::size_t(frame_.width) * std::size_t(frame_.height));
    take_codes(bits);
    if (decoded_ < std::size_t(frame_.width)) give_up(damage_);
    for (std::size_t row = 0; row < order_.size() && damage_.empty(); ++row) check_colours(row);
    if (!damage_.empty()) context_.damaged(damage_);
  }

  void copy_row(int y, std::byte* to) const override {
    const int channels = header_.channels;
    std::memset(to, 0, std::size_t(header_.width) * std::size_t(channels));
    const int row = y - frame_.top;
    if (row < 0 || row >= frame_.height) return;
    const std::size_t stored = stored_[std::size_t(row)], width = std::size_t(frame_.width);
    if ((stored + 1) * width > decoded_) return;
    const unsigned char* from = indices_.data() + stored * width;
    for (int x = 0; x < frame_.width && x + frame_.left < header_.width; ++x) {
      const std::size_t index = from[x];
      if (int(index) == frame_.transparent || index >= colours()) continue;
      std::byte* pixel = to + std::ptrdiff_t(x + frame_.left) * channels;
      for (std::size_t c = 0; c < 3; ++c) pixel[c] = std::byte{frame_.colours[3 * index + 2 - c]};
      if (channels == 4) pixel[3] = std::byte{255};
    }
  }

 private:
  std::size_t colours() const { return frame_.colours.size() / 3; }

  /// Interlaced rows come in four passes.
  void order_rows() {
    using Passes = std::vector<std::pair<int, int>>;  // first row, step
    const Passes passes =
        frame_.interlaced ? Passes{{0, 8}, {4, 8}, {2, 4}, {1, 2}} : Passes{{0, 1}};
    stored_.resize(std::size_t(frame_.height));
    for (const auto& [first, step] : passes) {
      for (int row = first; row < frame_.height; row += step) {
        stored_[std::size_t(row)] = order_.size();
        order_.push_back(row);
      }
    }
  }

  /// Notes the first damage, at an index of the picture.
  void note_damage(std::size_t index, const std::string& what) {
    if (!damage_.empty()) return;
    const std::size_t stored = std::min(index / std::size_t(frame_.width), order_.size() - 1);
    damage_ = data_damaged(row_text(order_[stored], frame_.height) + ": " + what);
  }

  void take_codes(int bits) {
    Codes codes(frame_.data.subspan(1));
    Strings strings(bits);
    while (const std::optional<unsigned> code = codes.next(strings.bits())) {
      if (*code == strings.end()) break;
      if (*code == strings.clear()) {
        strings.reset();
        continue;
      }
      if (!strings.take(*code))
        note_damage(decoded_, "code " + std::to_string(*code) + " before its string");
      const Bytes string = strings.string();
      const std::size_t count = std::min(string.size(), indices_.size() - decoded_);
      std::copy_n(string.begin(), count, indices_.begin() + std::ptrdiff_t(decoded_));
      decoded_ += count;
      if (count == string.size()) continue;
      // Bits that fill the last byte may look like one more code.
      if (count > 0 || codes.next(8)) note_damage(decoded_, "more pixels than it has");
      break;
    }
    if (decoded_ < indices_.size()) note_damage(decoded_, "its codes end");
  }

  void check_colours(std::size_t stored) {
    const std::size_t width = std::size_t(frame_.width), begin = stored * width;
    for (std::size_t i = begin; i < std::min(begin + width, decoded_); ++i) {
      const std::size_t index = indices_[i];
      if (index >= colours() && int(index) != frame_.transparent)
        return note_damage(
            i, "colour " + std::to_string(index) + " of a palette of " + std::to_string(colours()));
    }
  }

  Frame frame_;
  std::vector<int> order_;              ///< the picture's rows as they are stored
  std::vector<std::size_t> stored_;     ///< and for each row, the place where it is
  std::vector<unsigned char> indices_;  ///< of the picture's pixels, by stored rows
  std::size_t decoded_ = 0;             ///< how many of them
  std::string damage_;                  ///< the first; empty where there is none
};

}  // namespace
}  // namespace convfilt

extern "C" const convfilt::CodecModule* module_of_convfilt() {
  static constexpr convfilt::CodecModule kModule{
      convfilt::kModuleInterface, {convfilt::open_with<convfilt::GifReader>, nullptr}};
  return &kModule;
}
