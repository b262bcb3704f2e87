/// GIF: the frames of a file on its logical screen. It is only read.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/picture/codecs/canvas.hpp"
#include "src/picture/codecs/parts.hpp"
#include "src/picture/modules.hpp"

namespace convfilt {
namespace {

/// A picture on the screen.
struct GifFrame {
  FramePlace place;
  int time = 0;          ///< hundredths of a second
  int transparent = -1;  ///< its index in the colours; -1 where there is none
  bool interlaced = false;
  ByteView colours;  ///< three bytes each
  ByteView data;     ///< the bits of the first codes, then blocks of codes
};

/// Walks over a file's blocks, from frame to frame. A file that ends before its trailer was cut.
class Walk {
 public:
  explicit Walk(ByteView bytes) : bytes_(bytes) {
    screen_width = word();
    screen_height = word();
    const unsigned flags = byte();
    at_ += 2;  // background colour and aspect ratio
    screen_colours_ = colours(flags);
  }

  /// The next frame; nothing behind the last one.
  std::optional<GifFrame> next() {
    constexpr unsigned kExtension = 0x21, kPicture = 0x2C, kTrailer = 0x3B;
    GifFrame frame;
    while (!is_cut) {
      const unsigned kind = byte();
      if (kind == kTrailer) {
        if (!has_only_zeros(rest())) rubbish = rest().size();
        return std::nullopt;
      }
      if (kind == kExtension) {
        take_extension(frame);
      } else if (kind == kPicture) {
        frame.place.x = word();
        frame.place.y = word();
        frame.place.width = word();
        frame.place.height = word();
        const unsigned flags = byte();
        frame.interlaced = flags & 0x40;
        frame.colours = colours(flags);
        if (frame.colours.empty()) frame.colours = screen_colours_;
        frame.data = rest();
        byte();  // the first code's length
        skip_data();
        return frame;
      } else if (kind != 0) {  // zeros between blocks are common and mean nothing
        is_cut = true;
      }
    }
    return std::nullopt;
  }

  int screen_width = 0, screen_height = 0;
  int loops = 1;
  std::size_t rubbish = 0;  ///< bytes behind the trailer, unless they are zeros
  bool is_cut = false;
  Bytes comment;  ///< the text of all, or its beginning

 private:
  unsigned byte() {
    if (at_ < bytes_.size()) return bytes_[at_++];
    is_cut = true;
    return 0;
  }
  int word() {
    const unsigned low = byte();
    return int(low | byte() << 8);
  }
  ByteView rest() const { return bytes_.subspan(std::min(at_, bytes_.size())); }
  ByteView colours(unsigned flags) {
    if (!(flags & 0x80)) return {};
    const std::size_t size = std::size_t{3} << ((flags & 7) + 1);
    const ByteView table = rest().first(std::min(size, rest().size()));
    at_ += size;
    return table;
  }
  void skip_data() {
    while (const unsigned length = byte()) at_ += length;
  }

  void take_extension(GifFrame& frame) {
    constexpr std::size_t kMostComment = 1 << 16;
    constexpr unsigned kGraphics = 0xF9, kComment = 0xFE, kApplication = 0xFF;
    constexpr std::string_view kLoops = "\x0BNETSCAPE2.0\x03\x01";
    const unsigned kind = byte();
    const ByteView data = rest();
    if (kind == kGraphics && data.size() >= 5 && data[0] == 4) {
      constexpr Disposal kDisposals[] = {Disposal::keep, Disposal::keep, Disposal::clear,
                                         Disposal::restore};
      frame.transparent = data[1] & 1 ? data[4] : -1;
      frame.place.disposal = kDisposals[std::min(data[1] >> 2 & 7, 3)];
      frame.time = data[2] | data[3] << 8;
    }
    // It is repeated so often; 0 = without end.
    if (kind == kApplication && starts_with(data, kLoops) && data.size() >= kLoops.size() + 2) {
      const int repeats = int(little_endian(data, kLoops.size(), 2));
      loops = repeats == 0 ? 0 : repeats + 1;
    }
    const std::size_t begin = std::min(at_, bytes_.size());
    skip_data();
    if (kind == kComment)
      for (std::size_t at = begin; at < bytes_.size() && bytes_[at] > 0; at += 1 + bytes_[at]) {
        const ByteView text =
            bytes_.subspan(at + 1).first(std::min<std::size_t>(bytes_[at], bytes_.size() - at - 1));
        if (comment.size() < kMostComment) comment.insert(comment.end(), text.begin(), text.end());
      }
  }

  ByteView bytes_;
  std::size_t at_ = 6;  ///< behind the signature
  ByteView screen_colours_;
};

/// The codes of a picture, which lie in blocks, each with its length before it.
class Codes {
 public:
  explicit Codes(ByteView blocks) : rest_(blocks) {}

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
  ByteView rest_;
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
  ByteView string() {
    std::size_t at = string_.size();
    unsigned code = *before_;
    for (; code >= clear_; code = entries_[code].before) string_[--at] = entries_[code].last;
    string_[--at] = static_cast<unsigned char>(code);
    return ByteView(string_).subspan(at);
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

class GifReader : public AnimationReader {
 public:
  GifReader(ByteSource& source, ReadContext& context)
      : AnimationReader(source, context, FormatId::gif), walk_(context.whole(source)) {
    Walk all = walk_;
    const auto first = walk_.next();
    if (!first) give_up(ends_early("no picture in it"));
    frame_ = *first;
    header_.pages = 0;
    bool clears = false;
    while (const auto frame = all.next()) {
      ++header_.pages;
      clears |= frame->place.disposal == Disposal::clear;
      largest_ = std::max(largest_, std::int64_t{frame->place.width} * frame->place.height);
    }
    if (!all.comment.empty()) header_.metadata.comments.push_back(std::move(all.comment));
    // Some writers give the screen no size, and mean the picture's.
    const FramePlace& place = frame_.place;
    const bool sized = all.screen_width > 0 && all.screen_height > 0;
    set_size(sized ? all.screen_width : place.x + place.width,
             sized ? all.screen_height : place.y + place.height);
    const bool covered = place.x == 0 && place.y == 0 && place.width >= header_.width &&
                         place.height >= header_.height;
    is_animated_ = header_.pages > 1 && reads_frames(context.options());
    header_.channels = covered && frame_.transparent < 0 && !(is_animated_ && clears) ? 3 : 4;
    context.check_size(place.width, place.height);
    check_canvas(context, header_, place.width, place.height);
    if (all.is_cut)
      context.damaged(
          ends_early("after " + std::to_string(source.size()) + " bytes, without an end mark"));
    if (all.rubbish > 0) context.damaged(bytes_follow(all.rubbish));
    if (header_.pages > 1) header_.frame = Frame{all.loops, frame_.time, kTimesPerSecond};
    if (is_animated_) begin_animation();
  }

  std::int64_t held_bytes() const override {
    const std::int64_t canvas = std::int64_t{header_.width} * header_.height * 4;
    return file_bytes_ + (is_animated_ ? 2 * canvas + 5 * largest_
                                       : std::int64_t{frame_.place.width} * frame_.place.height);
  }

 protected:
  bool find_frame() override {
    const auto frame = walk_.next();
    if (!frame) return false;
    frame_ = *frame;
    is_first_ = false;
    header_.frame->time = frame_.time;
    return true;
  }

  void decode() override { is_animated_ ? AnimationReader::decode() : decode_frame(); }

  void copy_row(int y, std::byte* to) const override {
    if (!canvas_.empty()) return AnimationReader::copy_row(y, to);
    const FramePlace& place = frame_.place;
    std::memset(to, 0, row_bytes(header_));
    if (y >= place.y && y < place.y + place.height)
      copy_colours(y - place.y, std::min(place.width, header_.width - place.x), header_.channels,
                   to + std::ptrdiff_t(place.x) * header_.channels);
  }

 private:
  static constexpr int kTimesPerSecond = 100;

  void lay_frame() override {
    const FramePlace& place = frame_.place;
    context_.check_size(place.width, place.height);
    decode_frame();
    Image image(place.width, place.height, 4, Depth::u8);
    for (int y = 0; y < place.height; ++y) {
      std::memset(image.view().row(y), 0, image.row_bytes());
      copy_colours(y, place.width, 4, image.view().row(y));
    }
    canvas_.lay(std::as_const(image).view(), place);
  }

  void decode_frame() {
    damage_.clear();
    decoded_ = 0;
    order_rows();
    const FramePlace& place = frame_.place;
    indices_.resize(std::size_t(place.width) * std::size_t(place.height));
    constexpr int kMostBits = 8;
    const int bits = frame_.data.empty() ? 0 : frame_.data.front();
    if (frame_.colours.empty()) return lose_frame("it has no table of colours");
    if (bits < 1 || bits > kMostBits)
      return lose_frame(data_damaged("indices of " + std::to_string(bits) + " bits"));
    take_codes(bits);
    if (decoded_ < std::size_t(place.width)) return lose_frame(damage_);
    for (std::size_t row = 0; row < order_.size() && damage_.empty(); ++row) check_colours(row);
    if (!damage_.empty()) context_.damaged(damage_);
  }

  /// Nothing of the frame can be read. Without the first one there is no picture.
  void lose_frame(const std::string& why) {
    if (is_first_) give_up(why);
    context_.damaged(why);
  }

  /// Puts the colours of a row of the frame to where its first pixel lies; those that are clear or
  /// lost stay.
  void copy_colours(int row, int columns, int channels, std::byte* to) const {
    const std::size_t stored = stored_[std::size_t(row)], width = std::size_t(frame_.place.width);
    if ((stored + 1) * width > decoded_) return;
    const unsigned char* from = indices_.data() + stored * width;
    for (int x = 0; x < columns; ++x, to += channels) {
      const std::size_t index = from[x];
      if (int(index) == frame_.transparent || index >= colours()) continue;
      for (std::size_t c = 0; c < 3; ++c) to[c] = std::byte{frame_.colours[3 * index + 2 - c]};
      if (channels == 4) to[3] = std::byte{255};
    }
  }

  std::size_t colours() const { return frame_.colours.size() / 3; }

  /// Interlaced rows come in four passes.
  void order_rows() {
    using Passes = std::vector<std::pair<int, int>>;  // first row, step
    const Passes passes =
        frame_.interlaced ? Passes{{0, 8}, {4, 8}, {2, 4}, {1, 2}} : Passes{{0, 1}};
    order_.clear();
    stored_.resize(std::size_t(frame_.place.height));
    for (const auto& [first, step] : passes) {
      for (int row = first; row < frame_.place.height; row += step) {
        stored_[std::size_t(row)] = order_.size();
        order_.push_back(row);
      }
    }
  }

  /// Notes the first damage, at an index of the picture.
  void note_damage(std::size_t index, const std::string& what) {
    if (!damage_.empty()) return;
    const std::size_t stored = std::min(index / std::size_t(frame_.place.width), order_.size() - 1);
    damage_ = data_damaged(row_text(order_[stored], frame_.place.height) + ": " + what);
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
      const ByteView string = strings.string();
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
    const std::size_t width = std::size_t(frame_.place.width), begin = stored * width;
    for (std::size_t i = begin; i < std::min(begin + width, decoded_); ++i) {
      const std::size_t index = indices_[i];
      if (index >= colours() && int(index) != frame_.transparent)
        return note_damage(i, foreign_colour(std::int64_t(index), std::int64_t(colours())));
    }
  }

  Walk walk_;  ///< behind the frame
  GifFrame frame_;
  bool is_first_ = true;
  bool is_animated_ = false;         ///< several frames may be read
  std::int64_t largest_ = 0;         ///< pixels of a frame
  std::vector<int> order_;           ///< the picture's rows as they are stored
  std::vector<std::size_t> stored_;  ///< and for each row, the place where it is
  Bytes indices_;                    ///< of the picture's pixels, by stored rows
  std::size_t decoded_ = 0;          ///< how many of them
  std::string damage_;               ///< the first; empty where there is none
};

}  // namespace
}  // namespace convfilt

extern "C" const convfilt::CodecModule* module_of_convfilt() {
  static constexpr convfilt::CodecModule kModule{
      convfilt::kModuleInterface, {convfilt::open_with<convfilt::GifReader>, nullptr}};
  return &kModule;
}
