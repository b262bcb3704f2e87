/// The formats of Netpbm: PNM (P1 to P6), PAM (P7) and PFM (Pf, PF).
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/codecs/parts.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kEnd = -1;  ///< in place of a byte
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

/// The bytes of a file one after the other.
class Scanner {
 public:
  explicit Scanner(ByteSource& source, std::uint64_t begin = 0)
      : source_(source), buffer_(kBufferBytes), begin_(begin) {}

  /// The next byte, or kEnd.
  int next() {
    if (at_ == filled_) {
      begin_ += filled_;
      at_ = 0;
      filled_ = source_.read(begin_, buffer_);
      if (filled_ == 0) return kEnd;
    }
    return buffer_[at_++];
  }

  /// Gives the last byte once more, unless the file ended.
  void back() {
    if (at_ > 0) --at_;
  }

  /// The next byte past blanks and comments.
  int next_past_blanks() {
    while (true) {
      int c = next();
      if (c == '#') {
        std::string line;
        for (c = next(); c != '\n' && c != '\r' && c != kEnd; c = next())
          if (line.size() < kMostComment) line.push_back(char(c));
        add_comment(line);
      }
      if (c == kEnd || !std::isspace(c)) return c;
    }
  }

  std::uint64_t position() const { return begin_ + at_; }

  /// The text of a line behind its '#'.
  void add_comment(std::string_view line) {
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (comment_.size() + line.size() >= kMostComment) return;
    if (!comment_.empty()) comment_.push_back('\n');
    comment_.insert(comment_.end(), line.begin(), line.end());
  }

  /// All comments up to here, a line each.
  const Bytes& comment() const { return comment_; }

 private:
  static constexpr std::size_t kMostComment = 1 << 16;

  ByteSource& source_;
  Bytes buffer_;
  std::uint64_t begin_;  ///< of the buffer, in the file
  std::size_t at_ = 0, filled_ = 0;
  Bytes comment_;
};

enum class Coding { ascii_bits, ascii, bits, bytes, words, floats };

/// How the samples lie in the file.
struct Layout {
  Coding coding = Coding::bytes;
  int samples = 1;  ///< of a pixel, 1 to 4
  unsigned largest = 255;
  bool swapped = false;  ///< the bytes of floats are not in the host's order
  float factor = 1;      ///< of floats

  bool is_ascii() const { return coding == Coding::ascii_bits || coding == Coding::ascii; }

  std::uint64_t row_bytes(int width) const {
    const std::uint64_t count = std::uint64_t(width) * std::uint64_t(samples);
    switch (coding) {
      case Coding::bits: return (count + 7) / 8;
      case Coding::words: return count * 2;
      case Coding::floats: return count * 4;
      default: return count;
    }
  }
};

/// Between the file's order of bytes, most significant first, and the host's.
void turn_words(std::uint16_t* words, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count && kHostIsLittle; ++i)
    words[i] = __builtin_bswap16(words[i]);
}

/// Eight pixels a byte, the first in the highest bit, 1 for black. The packed bytes may be the end
/// of the row that they become.
void unpack_bits(const unsigned char* packed, unsigned char* row, int width) {
  for (int x = 0; x < width; x += 8) {
    const unsigned byte = *packed++;
    for (int bit = 0; bit < std::min(8, width - x); ++bit)
      row[x + bit] = byte >> (7 - bit) & 1 ? 0 : 255;
  }
}

/// Grey with alpha becomes BGRA. The pairs may be the end of the row that they become.
template <class T>
void expand_grey_alpha(const T* pairs, T* row, int width) {
  for (int x = 0; x < width; ++x, pairs += 2, row += 4) {
    const T grey = pairs[0], alpha = pairs[1];
    row[0] = row[1] = row[2] = grey;
    row[3] = alpha;
  }
}

class PnmReader : public FirstPictureReader {
 public:
  PnmReader(ByteSource& source, ReadContext& context)
      : FirstPictureReader(source, context, FormatId::pnm), scanner_(source) {
    scanner_.next();
    const int kind = scanner_.next();
    if (kind == '7')
      read_pam_header();
    else if (kind == 'F' || kind == 'f')
      read_pfm_header(kind == 'F' ? 3 : 1);
    else
      read_pnm_header(kind - '0');
    header_.channels = layout_.samples == 2 ? 4 : layout_.samples;
    header_.depth = from_below() ? Depth::f32 : layout_.largest > 255 ? Depth::u16 : Depth::u8;
    set_levels();
    if (!scanner_.comment().empty()) header_.metadata.comments = {scanner_.comment()};
    data_at_ = scanner_.position();
    check_length();
  }

  void read(PictureView<std::byte> rows) override {
    if (!layout_.is_ascii())
      read_binary(rows);
    else if (header_.depth == Depth::u16)
      read_ascii<std::uint16_t>(rows);
    else
      read_ascii<std::uint8_t>(rows);
    next_row_ += rows.height;
  }

  void finish() override {
    std::uint64_t end = data_at_ + std::uint64_t(header_.height) * row_bytes();
    if (layout_.is_ascii()) {
      if (scanner_.next_past_blanks() == kEnd) return;
      end = scanner_.position() - 1;
    } else if (another_picture_follows(end)) {
      return context_.leaves_out("only the first of several pictures in this " + name() +
                                 " is read");
    }
    Scanner trailing(source_, end);
    int c = trailing.next();
    while (c == 0 || (c != kEnd && std::isspace(c))) c = trailing.next();
    if (c == kEnd) return;
    context_.damaged(bytes_follow(source_.size() - end));
  }

 private:
  std::string name() const { return std::string(name_of(header_.format)); }
  std::uint64_t row_bytes() const { return layout_.row_bytes(header_.width); }
  bool from_below() const { return header_.format == FormatId::pfm; }

  /// Row `y` as messages count it.
  std::string place(int y) const { return row_text(y + 1, header_.height); }

  /// A number of the header and the byte after it, which must be a blank.
  std::int64_t header_number(const std::string& what) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    int c = scanner_.next_past_blanks();
    std::int64_t value = 0;
    const bool is_number = c != kEnd && std::isdigit(c);
    for (; c != kEnd && std::isdigit(c); c = scanner_.next())
      value = std::min(value * 10 + (c - '0'), kMost);
    if (c == kEnd) give_up(ends_early("in its header"));
    if (!is_number || !std::isspace(c))
      context_.fail("its header says no number for its " + what + "; write it anew");
    return value;
  }

  void set_largest(std::int64_t largest) {
    if (largest < 1 || largest > 65535) {
      context_.fail("its largest value is " + std::to_string(largest) +
                    ", and only 1 to 65535 are allowed; write it anew");
    }
    layout_.largest = unsigned(largest);
  }

  void read_pnm_header(int kind) {
    const std::int64_t width = header_number("width");
    set_size(width, header_number("height"));
    layout_.samples = kind % 3 == 0 ? 3 : 1;
    if (kind % 3 == 1) {
      layout_.coding = kind == 1 ? Coding::ascii_bits : Coding::bits;
      return;
    }
    set_largest(header_number("largest value"));
    layout_.coding = kind < 4                ? Coding::ascii
                     : layout_.largest > 255 ? Coding::words
                                             : Coding::bytes;
  }

  /// The text up to the end of a line, which it skips; no more than a line of a header can have.
  std::string header_line() {
    constexpr std::size_t kMost = 512;
    std::string line;
    int c = scanner_.next();
    for (; c != '\n' && c != kEnd; c = scanner_.next()) {
      if (line.size() < kMost) line.push_back(char(c));
    }
    if (c == kEnd) give_up(ends_early("in its header"));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    return line;
  }

  void read_pam_header() {
    header_.format = FormatId::pam;
    std::map<std::string, std::int64_t> numbers = {
        {"WIDTH", 0}, {"HEIGHT", 0}, {"DEPTH", 0}, {"MAXVAL", 0}};
    std::string type;
    for (std::string line = header_line(); line != "ENDHDR"; line = header_line()) {
      if (line.starts_with('#')) scanner_.add_comment(std::string_view(line).substr(1));
      if (line.empty() || line.front() == '#') continue;
      const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
      const std::string key = line.substr(0, blank);
      const std::string value =
          line.substr(std::min(line.find_first_not_of(" \t", blank), line.size()));
      if (key == "TUPLTYPE") {
        type += (type.empty() ? "" : " ") + value;
        continue;
      }
      const auto number = numbers.find(key);
      if (number == numbers.end())
        context_.fail("its header has a line that PAM does not know; write it anew");
      const auto told = number_of_word<std::int64_t>(value);
      if (!told) context_.fail("its header says no number for " + key + "; write it anew");
      number->second = *told;
    }
    set_size(numbers["WIDTH"], numbers["HEIGHT"]);
    set_largest(numbers["MAXVAL"]);
    layout_.samples = samples_of_type(type, numbers["DEPTH"]);
    layout_.coding = layout_.largest > 255 ? Coding::words : Coding::bytes;
  }

  /// The samples of a pixel, which must be those of the tuple type; without a type the number says
  /// what they are.
  int samples_of_type(const std::string& type, std::int64_t samples) const {
    constexpr std::pair<std::string_view, int> kTypes[] = {
        {"BLACKANDWHITE", 1}, {"GRAYSCALE", 1},       {"BLACKANDWHITE_ALPHA", 2},
        {"RGB", 3},           {"GRAYSCALE_ALPHA", 2}, {"RGB_ALPHA", 4}};
    const auto known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                    [&](const auto& entry) { return entry.first == type; });
    const bool fits = type.empty() ? samples >= 1 && samples <= 4
                                   : known != std::end(kTypes) && known->second == samples;
    if (!fits) {
      context_.fail("it has " + std::to_string(samples) + " samples a pixel and the tuple type " +
                    (type.empty() ? "none" : printable_name(type)) +
                    "; convert it to GRAYSCALE, RGB, GRAYSCALE_ALPHA or RGB_ALPHA first");
    }
    return int(samples);
  }

  void read_pfm_header(int samples) {
    header_.format = FormatId::pfm;
    const std::int64_t width = header_number("width");
    set_size(width, header_number("height"));
    std::string text;
    int c = scanner_.next_past_blanks();
    constexpr std::size_t kMost = 64;
    for (; c != kEnd && !std::isspace(c) && text.size() < kMost; c = scanner_.next())
      text.push_back(char(c));
    if (c == kEnd) give_up(ends_early("in its header"));
    if (text.starts_with('+')) text.erase(0, 1);
    const double scale = number_of_word<double>(text).value_or(0);
    if (!std::isfinite(scale) || scale == 0)
      context_.fail("its header says no number for its scale; write it anew");
    layout_.coding = Coding::floats;
    layout_.samples = samples;
    layout_.swapped = (scale < 0) != kHostIsLittle;
    layout_.factor = float(1 / std::abs(scale));
  }

  /// A largest value that is not the depth's own: each level is stretched to the full range.
  void set_levels() {
    const unsigned full = layout_.largest > 255 ? 65535 : 255;
    if (layout_.largest == full) return;
    levels_.resize(layout_.largest + 1);
    for (unsigned level = 0; level <= layout_.largest; ++level)
      levels_[level] = to_sample<std::uint16_t>(double(level) * full / layout_.largest);
  }

  void check_length() {
    const std::uint64_t there = source_.size() - std::min(data_at_, source_.size());
    if (layout_.is_ascii()) {
      // Between two numbers there is a blank; bits need none.
      const std::uint64_t samples = std::uint64_t(header_.height) * row_bytes();
      if (layout_.coding == Coding::ascii_bits ? there < samples : there < 2 * samples - 1) {
        context_.damaged(cannot_hold(source_.size(), header_));
      }
      return;
    }
    const std::uint64_t rows = there / row_bytes();
    whole_rows_ = int(std::min<std::uint64_t>(rows, std::uint64_t(header_.height)));
    if (whole_rows_ == header_.height) return;
    const std::string why =
        ends_early(place(from_below() ? header_.height - 1 - whole_rows_ : whole_rows_));
    if (whole_rows_ == 0) give_up(why);
    context_.damaged(why);
  }

  /// A sample of an ASCII file; -1, and no more after it, where there is none.
  int ascii_sample(int y) {
    int c = scanner_.next_past_blanks();
    if (c == kEnd) return stop_ascii(ends_early(place(y)), y);
    if (!std::isdigit(c)) {
      const std::string what =
          std::isprint(c) ? "'" + std::string(1, char(c)) + "'" : "byte " + std::to_string(c);
      return stop_ascii(data_damaged(what + " is no digit, " + place(y)), y);
    }
    constexpr int kMost = 65536;
    int value = 0;
    if (layout_.coding == Coding::ascii_bits) {
      value = c - '0';
    } else {
      for (; c != kEnd && std::isdigit(c); c = scanner_.next())
        value = std::min(value * 10 + (c - '0'), kMost);
      if (c != kEnd) scanner_.back();
    }
    return value;
  }

  int stop_ascii(const std::string& why, int y) {
    if (y == 0) give_up(why);
    context_.damaged(why);
    broken_ = true;
    return -1;
  }

  void report_excess(int y) {
    context_.damaged(data_damaged("a sample above the largest value, " +
                                  std::to_string(layout_.largest) + ", " + place(y)));
  }

  template <class T>
  void read_ascii(PictureView<std::byte> rows) {
    const int count = rows.width * rows.channels;
    const bool bits = layout_.coding == Coding::ascii_bits;
    for (int y = 0; y < rows.height; ++y) {
      T* row = row_of<T>(rows, y);
      bool excess = false;
      int i = 0;
      for (; i < count && !broken_; ++i) {
        const int value = ascii_sample(next_row_ + y);
        if (value < 0) break;
        const unsigned level = unsigned(value), most = bits ? 1 : layout_.largest;
        excess |= level > most;
        row[i] = bits ? T(level == 0 ? 255 : 0) : level_of<T>(std::min(level, most));
      }
      std::fill(row + i, row + count, T(0));
      if (excess) report_excess(next_row_ + y);
      swap_red_and_blue(row, rows.width, rows.channels);
    }
  }

  template <class T>
  T level_of(unsigned level) const {
    return T(levels_.empty() ? level : levels_[level]);
  }

  /// Rows that are there in the file, from `first` to before `last`; all others are black.
  void read_binary(PictureView<std::byte> rows) {
    const int missing_above = from_below() ? header_.height - whole_rows_ : 0;
    const int end = from_below() ? header_.height : whole_rows_;
    const int first = std::clamp(missing_above - next_row_, 0, rows.height);
    const int last = std::clamp(end - next_row_, first, rows.height);
    const std::size_t bytes = std::size_t(row_bytes());
    const std::size_t held = convfilt::row_bytes(header_);
    for (int y = 0; y < rows.height; ++y) {
      if (y < first || y >= last) std::memset(rows.row(y), 0, held);
    }
    // Packed samples are put at the end of their row, and unpacked from there.
    const bool as_one = held == bytes && rows.pitch == std::ptrdiff_t(bytes) && !from_below();
    if (as_one && first < last) {
      load(next_row_ + first, rows.row(first), bytes * std::size_t(last - first));
    }
    for (int y = first; y < last; ++y) {
      std::byte* packed = rows.row(y) + (held - bytes);
      if (!as_one) load(next_row_ + y, packed, bytes);
      unpack(rows, y, packed);
    }
  }

  /// The bytes of rows from `row` on.
  void load(int row, std::byte* to, std::size_t bytes) {
    const int stored = from_below() ? header_.height - 1 - row : row;
    const std::size_t got = source_.read(data_at_ + std::uint64_t(stored) * row_bytes(),
                                         {reinterpret_cast<unsigned char*>(to), bytes});
    if (got == bytes) return;
    context_.damaged(ends_early(place(row)));  // it became shorter
    std::memset(to + got, 0, bytes - got);
  }

  void unpack(PictureView<std::byte> rows, int y, std::byte* packed) {
    switch (layout_.coding) {
      case Coding::bits:
        unpack_bits(reinterpret_cast<unsigned char*>(packed), row_of<unsigned char>(rows, y),
                    rows.width);
        break;
      case Coding::words: unpack_levels(rows, y, reinterpret_cast<std::uint16_t*>(packed)); break;
      case Coding::floats: unpack_floats(rows, y); break;
      default: unpack_levels(rows, y, reinterpret_cast<std::uint8_t*>(packed)); break;
    }
  }

  template <class T>
  void unpack_levels(PictureView<std::byte> rows, int y, T* packed) {
    const std::ptrdiff_t count = std::ptrdiff_t(rows.width) * layout_.samples;
    if constexpr (sizeof(T) == 2) turn_words(packed, count);
    if (!levels_.empty()) {
      bool excess = false;
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        excess |= packed[i] > layout_.largest;
        packed[i] = level_of<T>(std::min<unsigned>(packed[i], layout_.largest));
      }
      if (excess) report_excess(next_row_ + y);
    }
    if (layout_.samples == 2)
      expand_grey_alpha(packed, row_of<T>(rows, y), rows.width);
    else
      swap_red_and_blue(packed, rows.width, rows.channels);
  }

  void unpack_floats(PictureView<std::byte> rows, int y) {
    float* row = row_of<float>(rows, y);
    const std::ptrdiff_t count = std::ptrdiff_t(rows.width) * rows.channels;
    for (std::ptrdiff_t i = 0; i < count && layout_.swapped; ++i)
      row[i] = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(row[i])));
    for (std::ptrdiff_t i = 0; i < count && layout_.factor != 1; ++i) row[i] *= layout_.factor;
    swap_red_and_blue(row, rows.width, rows.channels);
  }

  /// Netpbm's programs read and write pictures one after the other in one file.
  bool another_picture_follows(std::uint64_t end) {
    std::array<unsigned char, 16> start{};
    const std::size_t got = source_.read(end, start);
    FormatId following;
    return sniff(std::span(start).first(got), &following) && following == header_.format;
  }

  Scanner scanner_;
  Layout layout_;
  std::vector<std::uint16_t> levels_;  ///< of the file's samples; empty where they stay
  std::uint64_t data_at_ = 0;
  int next_row_ = 0;
  int whole_rows_ = 0;   ///< of a binary file, there are bytes for so many
  bool broken_ = false;  ///< an ASCII file gives no more samples
};

class PnmWriter : public RowWriter {
 public:
  PnmWriter(ByteSink& sink, const Header& header, const WriteOptions&)
      : sink_(sink),
        header_(header),
        from_below_(header.format == FormatId::pfm),
        row_bytes_(convfilt::row_bytes(header)) {
    const std::string text = header_text(header);
    sink_.append(bytes_of(text));
    data_at_ = sink_.size();
  }

  void write(PictureView<const std::byte> rows, EncodedRows) override {
    const int step =
        int(std::clamp<std::size_t>(kWrittenBytes / row_bytes_, 1, std::size_t(rows.height)));
    for (int y = 0; y < rows.height; y += step) {
      const int count = std::min(step, rows.height - y);
      packed_.resize(row_bytes_ * std::size_t(count));
      for (int i = 0; i < count; ++i) {
        const int place = from_below_ ? count - 1 - i : i;
        pack(rows.row(y + i), packed_.data() + std::size_t(place) * row_bytes_);
      }
      const int stored = from_below_ ? header_.height - next_row_ - count : next_row_;
      sink_.write(data_at_ + std::uint64_t(stored) * row_bytes_, packed_);
      next_row_ += count;
    }
  }

  void finish() override {}

 private:
  static constexpr std::size_t kWrittenBytes = std::size_t{1} << 18;

  static std::string comment_lines(const Header& header) {
    std::string lines;
    for (const Bytes& comment : header.metadata.comments) {
      lines += "# ";
      for (const unsigned char c : comment)
        lines += c == '\n' || c == '\r' ? "\n# " : std::string(1, char(c));
      lines += "\n";
    }
    return lines;
  }

  static std::string header_text(const Header& header) {
    const std::string width = std::to_string(header.width), height = std::to_string(header.height);
    const std::string largest = header.depth == Depth::u16 ? "65535" : "255";
    const int channels = header.channels;
    if (header.format == FormatId::pfm) {
      return std::string(channels == 3 ? "PF\n" : "Pf\n") + width + " " + height +
             (kHostIsLittle ? "\n-1\n" : "\n1\n");
    }
    if (header.format == FormatId::pam) {
      return "P7\n" + comment_lines(header) + "WIDTH " + width + "\nHEIGHT " + height + "\nDEPTH " +
             std::to_string(channels) + "\nMAXVAL " + largest + "\nTUPLTYPE " +
             (channels == 1   ? "GRAYSCALE"
              : channels == 3 ? "RGB"
                              : "RGB_ALPHA") +
             "\nENDHDR\n";
    }
    return (channels == 3 ? "P6\n" : "P5\n") + comment_lines(header) + width + " " + height + "\n" +
           largest + "\n";
  }

  void pack(const std::byte* row, unsigned char* to) const {
    copy_row_reversed(row, reinterpret_cast<std::byte*>(to), header_);
    if (header_.depth == Depth::u16)
      turn_words(reinterpret_cast<std::uint16_t*>(to), std::ptrdiff_t(row_bytes_ / 2));
  }

  ByteSink& sink_;
  const Header header_;
  int next_row_ = 0;
  bool from_below_;
  std::size_t row_bytes_;
  std::uint64_t data_at_ = 0;
  Bytes packed_;
};

}  // namespace

const Codec kPnmCodec{open_with<PnmReader>, create_with<PnmWriter>};

}  // namespace convfilt
