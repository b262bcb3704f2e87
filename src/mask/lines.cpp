#include "src/mask/lines.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "kernels/problem.hpp"
#include "src/base/nearest.hpp"

namespace convfilt {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kSeparators = " \t,";
constexpr std::array<std::string_view, 4> kKeys = {"scale", "offset", "anchor", "name"};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

bool starts_number(char c) {
  return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/// Reads a file line by line into MaskLines.
class LineReader {
 public:
  explicit LineReader(const SourceText& source) : source_(source) {}

  MaskLines read();

 private:
  void read_line(std::string_view content);
  void read_row(std::string_view content);
  void read_key(std::string_view key, std::string_view value);
  void read_magick_header(std::string_view header);
  void read_magick_weights(std::string_view content);

  template <class Use>
  void for_each_word(std::string_view content, Use use);
  void settle_comma() const;
  std::vector<std::string_view> values(std::string_view content, std::size_t count,
                                       const std::string& example);
  Entry number(std::string_view word) const;

  [[noreturn]] void fail(std::string_view place, const std::string& message) const {
    source_.fail(place, message);
  }

  const SourceText& source_;
  MaskLines lines_;
  std::string_view pending_comma_;  // a comma that waits for the number after it
};

MaskLines LineReader::read() {
  for (std::string_view rest = source_.text(); !rest.empty();) {
    const std::string_view line = SourceText::take_line(rest);
    const std::string_view content = trimmed(line.substr(0, line.find('#')));
    if (!content.empty()) read_line(content);
  }
  settle_comma();
  return std::move(lines_);
}

void LineReader::read_line(std::string_view content) {
  const std::size_t colon = content.find(':');
  if (colon == std::string_view::npos) {
    return lines_.magick_header.empty() ? read_row(content) : read_magick_weights(content);
  }
  const std::string_view before = trimmed(content.substr(0, colon));
  const std::string_view after = trimmed(content.substr(colon + 1));
  if (!starts_number(content.front())) return read_key(before, after);
  read_magick_header(before);
  read_magick_weights(after);
}

void LineReader::read_row(std::string_view content) {
  std::vector<Entry>& row = lines_.rows.emplace_back();
  for_each_word(content, [&](std::string_view word) {
    if (row.size() == kMaxMaskSide) {
      fail(word,
           "a row has at most " + count_of(kMaxMaskSide, "weight") + "; make the mask smaller");
    }
    row.push_back(number(word));
  });
  settle_comma();
  // One row more than weights may have, since the first may be a vips header.
  if (lines_.rows.size() > kMaxMaskSide + 1) {
    fail(content, "a mask has at most " + count_of(kMaxMaskSide, "row") + "; make it smaller");
  }
}

void LineReader::read_key(std::string_view key, std::string_view value) {
  const auto once = [&](bool given) {
    if (given) fail(key, quoted(key) + " is given twice; keep one of them");
  };
  if (key == "scale") {
    once(lines_.scale.has_value());
    lines_.scale = number(values(value, 1, "scale: 9")[0]);
    check_scale(source_, *lines_.scale);
  } else if (key == "offset") {
    once(lines_.offset.has_value());
    lines_.offset = number(values(value, 1, "offset: 128")[0]);
  } else if (key == "anchor") {
    once(lines_.anchor.has_value());
    const auto words = values(value, 2, "anchor: 1 1");
    for (std::string_view word : words) {
      if (whole_number(word)) continue;
      fail(word, quoted(word) + " is no column or row of a mask; they count from 0");
    }
    lines_.anchor = {*whole_number(words[0]), *whole_number(words[1]), words[0], words[1]};
  } else if (key == "name") {
    once(!lines_.name.empty());
    if (value.empty()) fail(value, "a value is missing; write 'name: my mask'");
    lines_.name = value;
  } else {
    std::string near = did_you_mean(key, kKeys);
    if (near.empty()) near = "; the keys are scale, offset, anchor and name";
    fail(key, "unknown key " + quoted(key) + near);
  }
}

/// WxH or WxH+X+Y.
void LineReader::read_magick_header(std::string_view header) {
  if (!lines_.rows.empty()) {
    fail(header, "a second kernel or a stray ':'; a file holds one mask, and keys are words");
  }
  const std::size_t rotation = header.find_first_of("<>@^");
  if (rotation != std::string_view::npos) {
    fail(header.substr(rotation), "rotated copies of a kernel are several masks; write one a file");
  }
  std::array<std::string_view, 4> parts;  // W, H, X, Y
  std::string_view rest = header;
  std::size_t last = 0;
  for (char end : {'x', '+', '+'}) {
    const std::size_t length = rest.find(end);
    if (length == std::string_view::npos) break;
    parts[last++] = rest.substr(0, length);
    rest.remove_prefix(length + 1);
  }
  parts[last] = rest;
  const auto width = whole_number(parts[0]), height = whole_number(parts[1]);
  const auto x = whole_number(parts[2]), y = whole_number(parts[3]);
  const bool has_origin = last == 3 && x && y;
  if (!width || !height || (last != 1 && !has_origin)) {
    fail(header, quoted(header) + " is not WxH or WxH+X+Y, the size and origin of an ImageMagick " +
                     "kernel; write for example '3x3: 1,2,1, ...'");
  }
  if (!is_side(width) || !is_side(height)) {
    fail(header, quoted(header) + " is no size of a mask; each side is 1 to " +
                     std::to_string(kMaxMaskSide));
  }
  if (has_origin && lines_.anchor) {
    fail(parts[2], "the origin is given twice, here and by 'anchor'; keep one of them");
  }
  if (has_origin) lines_.anchor = {*x, *y, parts[2], parts[3]};
  lines_.magick_header = header;
  lines_.magick_width = *width;
  lines_.magick_height = *height;
  lines_.rows.emplace_back();
}

void LineReader::read_magick_weights(std::string_view content) {
  const std::size_t semicolon = content.find(';');
  if (semicolon != std::string_view::npos) {
    fail(content.substr(semicolon), "several kernels in one file; write one mask a file");
  }
  std::vector<Entry>& weights = lines_.rows[0];
  const std::size_t needed = std::size_t(lines_.magick_width) * lines_.magick_height;
  for_each_word(content, [&](std::string_view word) {
    if (word == "-" || word == "nan" || word == "NaN") {
      fail(word, quoted(word) + " leaves a place out of the neighbourhood; write 0");
    }
    if (weights.size() == needed) {
      fail(word, "one number too many; " + std::string(lines_.magick_header) + " needs " +
                     count_of(needed, "number"));
    }
    weights.push_back(number(word));
  });
}

/// Calls use(word) for the words between blanks and single commas.
template <class Use>
void LineReader::for_each_word(std::string_view content, Use use) {
  bool after_word = false;
  while (!content.empty()) {
    if (kBlanks.find(content.front()) != std::string_view::npos) {
      content.remove_prefix(1);
    } else if (content.front() == ',') {
      pending_comma_ = content.substr(0, 1);
      if (!after_word) fail(pending_comma_, "no number before this comma; write one, or drop it");
      after_word = false;
      content.remove_prefix(1);
    } else {
      const std::string_view word = content.substr(0, content.find_first_of(kSeparators));
      use(word);
      pending_comma_ = {};
      after_word = true;
      content.remove_prefix(word.size());
    }
  }
}

/// Where a list ends, no comma may wait for a number.
void LineReader::settle_comma() const {
  if (pending_comma_.empty()) return;
  fail(pending_comma_, "no number after this comma; write one, or drop it");
}

/// The values of a key, `count` of them.
std::vector<std::string_view> LineReader::values(std::string_view content, std::size_t count,
                                                 const std::string& example) {
  std::vector<std::string_view> words;
  for_each_word(content, [&](std::string_view word) {
    if (words.size() == count) fail(word, "one value too many; write '" + example + "'");
    words.push_back(word);
  });
  settle_comma();
  if (words.size() == count) return words;
  fail(content.substr(content.size()), "a value is missing; write '" + example + "'");
}

Entry LineReader::number(std::string_view word) const {
  std::string why;
  if (const auto parsed = parse_number(word, why)) return {*parsed, word};
  if (std::find(kKeys.begin(), kKeys.end(), word) != kKeys.end()) {
    fail(word,
         quoted(word) + " is a key and needs a colon; write '" + std::string(word) + ": ...'");
  }
  fail(word, quoted(word) + ' ' + why);
}

}  // namespace

std::optional<int> whole_number(std::string_view word) {
  int n = 0;
  if (word.starts_with('-')) return std::nullopt;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return n;
}

bool is_side(std::optional<int> n) {
  return n && *n >= 1 && *n <= kMaxMaskSide;
}

std::string count_of(std::size_t n, const std::string& noun) {
  return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s");
}

void check_scale(const SourceText& source, const Entry& scale) {
  if (scale.number.value != 0) return;
  source.fail(scale.word, "the scale is 0, by which nothing can be divided; write 1 for no scale");
}

MaskLines read_mask_lines(const SourceText& source) {
  return LineReader(source).read();
}

}  // namespace convfilt
