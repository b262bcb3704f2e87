#include "src/mask/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/problem.hpp"
#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/mask/number.hpp"

namespace convfilt {
namespace {

/// A number and its place.
struct Entry {
  Number number;
  std::string_view word;
};

/// The contents of a file's lines. Views point into the text.
struct MaskLines {
  std::vector<std::vector<Entry>> rows;  ///< only an ImageMagick kernel's may be empty
  std::optional<Entry> scale, offset;    ///< the scale is not 0
  std::vector<std::string_view> anchor;  ///< column and row, whole numbers; empty: none is given
  std::string_view name;                 ///< empty: none is given
  std::string_view rotate;               ///< the number of turns; empty: none is given
  std::string_view begins_behind;        ///< the mark before the mask; empty for the first

  bool has_keys() const {
    return scale || offset || !anchor.empty() || !name.empty() || !rotate.empty();
  }

  /// "3x3+1+1" of an ImageMagick kernel, whose weights are then rows[0]; else empty.
  std::string_view magick_header;
  int magick_width = 0, magick_height = 0;
};

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kSeparators = " \t,";
constexpr std::array<std::string_view, 6> kKeys = {"scale", "offset", "anchor",
                                                   "name",  "rotate", "combine"};
constexpr std::string_view kBetweenMasks = "---";

bool starts_number(char c) {
  return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/// Digits alone, as an int; nothing for anything else.
std::optional<int> whole_number(std::string_view word) {
  return word.starts_with('-') ? std::nullopt : number_of_word<int>(word);
}

/// Whether n is the side of a mask, 1..kMaxMaskSide.
bool is_side(std::optional<int> n) {
  return n && *n >= 1 && *n <= kMaxMaskSide;
}

/// Throws IoError at its place if the scale is 0.
void check_scale(const SourceText& source, const Entry& scale) {
  if (scale.number.value != 0) return;
  source.fail(scale.word, "the scale is 0, by which nothing can be divided; write 1 for no scale");
}

std::optional<Combine> combine_named(std::string_view word) {
  const auto found = std::ranges::find(kCombines, word, [](Combine one) { return name_of(one); });
  return found == std::end(kCombines) ? std::nullopt : std::optional(*found);
}

/// Reads a file line by line into the MaskLines of each mask. Throws IoError at the first line that
/// is not in the grammar of filters/README.md, and at rows too long or too many for a mask;
/// lay_out() checks whether the rows fit each other.
class LineReader {
 public:
  explicit LineReader(const SourceText& source) : source_(source) {}

  std::vector<MaskLines> read() {
    for (std::string_view rest = source_.text(); !rest.empty();) {
      const std::string_view line = SourceText::take_line(rest);
      const std::string_view content = without_blanks(line.substr(0, line.find('#')));
      if (content == kBetweenMasks)
        end_mask(content);
      else if (!content.empty())
        read_line(content);
    }
    settle_comma();
    // A semicolon may end the last kernel, too.
    if (lines_.begins_behind != ";" || !lines_.rows.empty() || lines_.has_keys())
      masks_.push_back(std::move(lines_));
    return std::move(masks_);
  }

  /// The file's word for how responses are combined; empty where it has none.
  std::string_view combine() const { return combine_; }

 private:
  [[noreturn]] void fail(std::string_view place, const std::string& message) const {
    source_.fail(place, message);
  }

  /// Begins another mask behind that mark.
  void end_mask(std::string_view mark) {
    settle_comma();
    if (lines_.rows.empty()) fail(mark, "there are no weights before this; write rows of numbers");
    if (masks_.size() + 1 == kMaxMasks)
      fail(mark, "a file has at most " + plural(kMaxMasks, "mask") + "; leave some out");
    masks_.push_back(std::exchange(lines_, {}));
    lines_.begins_behind = mark;
  }

  void read_line(std::string_view content) {
    const std::size_t colon = content.find(':');
    if (colon == std::string_view::npos) {
      return lines_.magick_header.empty() ? read_row(content) : read_magick_weights(content);
    }
    const std::string_view before = without_blanks(content.substr(0, colon));
    const std::string_view after = without_blanks(content.substr(colon + 1));
    if (!starts_number(content.front())) return read_key(before, after);
    read_magick_header(before);
    read_magick_weights(after);
  }

  void read_row(std::string_view content) {
    std::vector<Entry>& row = lines_.rows.emplace_back();
    for_each_word(content, [&](std::string_view word) {
      if (row.size() == kMaxMaskSide) {
        fail(word,
             "a row has at most " + plural(kMaxMaskSide, "weight") + "; make the mask smaller");
      }
      row.push_back(number(word));
    });
    settle_comma();
    // A file may have one row more than a mask, since the first may be a vips header.
    if (lines_.rows.size() > kMaxMaskSide + 1) {
      fail(content, "a mask has at most " + plural(kMaxMaskSide, "row") + "; make it smaller");
    }
  }

  void read_key(std::string_view key, std::string_view value) {
    const auto once = [&](bool given) {
      if (given) fail(key, in_quotes(key) + " is given twice; keep one of them");
    };
    if (key == "scale") {
      once(lines_.scale.has_value());
      lines_.scale = number(values(value, 1, "scale: 9")[0]);
      check_scale(source_, *lines_.scale);
    } else if (key == "offset") {
      once(lines_.offset.has_value());
      lines_.offset = number(values(value, 1, "offset: 128")[0]);
    } else if (key == "anchor") {
      once(!lines_.anchor.empty());
      lines_.anchor = values(value, 2, "anchor: 1 1");
      for (std::string_view word : lines_.anchor)
        if (!whole_number(word))
          fail(word, in_quotes(word) + " is no column or row of a mask; they count from 0");
    } else if (key == "name") {
      once(!lines_.name.empty());
      if (value.empty()) fail(value, "a value is missing; write 'name: my mask'");
      lines_.name = value;
    } else if (key == "rotate") {
      once(!lines_.rotate.empty());
      lines_.rotate = values(value, 1, "rotate: 8")[0];
      if (lines_.rotate != "4" && lines_.rotate != "8")
        fail(lines_.rotate, in_quotes(lines_.rotate) + " is no number of turns; write 4 or 8");
    } else if (key == "combine") {
      once(!combine_.empty());
      combine_ = values(value, 1, "combine: max")[0];
      if (!combine_named(combine_))
        fail(combine_, in_quotes(combine_) +
                           " is no way to combine; write sum, max, length or "
                           "first-strongest");
    } else {
      std::string near = did_you_mean(key, {kKeys.begin(), kKeys.end()});
      if (near.empty()) near = "; the keys are scale, offset, anchor, name, rotate and combine";
      fail(key, "unknown key " + in_quotes(key) + near);
    }
  }

  /// WxH or WxH+X+Y, and a mark for turned copies.
  void read_magick_header(std::string_view header) {
    if (!lines_.rows.empty()) {
      fail(header, "a second kernel or a stray ':'; write ';' between kernels, and keys are words");
    }
    const std::size_t rotation = header.find_first_of("<>@^");
    if (rotation != std::string_view::npos) {
      const std::string_view mark = header.substr(rotation);
      if (mark != "@" && mark != "<" && mark != ">")
        fail(mark, in_quotes(mark) + " is no mark for turned copies; write @, < or >");
      if (!lines_.rotate.empty())
        fail(mark, "turns are given twice, here and by 'rotate'; keep one of them");
      lines_.rotate = mark;
      header = header.substr(0, rotation);
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
    const bool has_origin = last == 3 && whole_number(parts[2]) && whole_number(parts[3]);
    if (!width || !height || (last != 1 && !has_origin)) {
      fail(header, in_quotes(header) +
                       " is not WxH or WxH+X+Y, the size and origin of an ImageMagick " +
                       "kernel; write for example '3x3: 1,2,1, ...'");
    }
    if (!is_side(width) || !is_side(height)) {
      fail(header, in_quotes(header) + " is no size of a mask; each side is 1 to " +
                       std::to_string(kMaxMaskSide));
    }
    if (has_origin && !lines_.anchor.empty()) {
      fail(parts[2], "the origin is given twice, here and by 'anchor'; keep one of them");
    }
    if (has_origin) lines_.anchor = {parts[2], parts[3]};
    lines_.magick_header = header;
    lines_.magick_width = *width;
    lines_.magick_height = *height;
    lines_.rows.emplace_back();
  }

  void read_magick_weights(std::string_view content) {
    if (const std::size_t end = content.find(';'); end != std::string_view::npos) {
      read_magick_weights(content.substr(0, end));
      end_mask(content.substr(end, 1));
      const std::string_view next = without_blanks(content.substr(end + 1));
      if (!next.empty()) read_line(next);
      return;
    }
    std::vector<Entry>& weights = lines_.rows[0];
    const std::size_t needed = std::size_t(lines_.magick_width) * lines_.magick_height;
    for_each_word(content, [&](std::string_view word) {
      if (word == "-" || word == "nan" || word == "NaN") {
        fail(word, in_quotes(word) + " leaves a place out of the neighbourhood; write 0");
      }
      if (weights.size() == needed) {
        fail(word, "one number too many; " + std::string(lines_.magick_header) + " needs " +
                       plural(needed, "number"));
      }
      weights.push_back(number(word));
    });
  }

  /// Calls use(word) for the words between blanks and single commas.
  template <class Use>
  void for_each_word(std::string_view content, Use use) {
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

  /// Throws if a comma still waits for a number at the end of a list.
  void settle_comma() const {
    if (pending_comma_.empty()) return;
    fail(pending_comma_, "no number after this comma; write one, or drop it");
  }

  /// The values of a key, `count` of them.
  std::vector<std::string_view> values(std::string_view content, std::size_t count,
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

  Entry number(std::string_view word) const {
    std::string why;
    if (const auto parsed = parse_number(word, why)) return {*parsed, word};
    if (std::find(kKeys.begin(), kKeys.end(), word) != kKeys.end()) {
      fail(word,
           in_quotes(word) + " is a key and needs a colon; write '" + std::string(word) + ": ...'");
    }
    fail(word, in_quotes(word) + ' ' + why);
  }

  const SourceText& source_;
  std::vector<MaskLines> masks_;
  MaskLines lines_;  // of the mask that is being read
  std::string_view combine_;
  std::string_view pending_comma_;  // a comma that waits for the number after it
};

using EntryRows = std::vector<std::vector<Entry>>;
constexpr const char* kVipsForm = "WIDTH HEIGHT [SCALE [OFFSET]]";

std::string_view end_of(const std::vector<Entry>& row) {
  return row.back().word.substr(row.back().word.size());
}

/// Whether the first row is a vips header that fits the other rows.
bool fits_vips_header(const EntryRows& rows) {
  if (rows[0].size() < 2 || rows[0].size() > 4) return false;
  const auto width = whole_number(rows[0][0].word), height = whole_number(rows[0][1].word);
  return is_side(width) && is_side(height) && rows.size() == std::size_t(*height) + 1 &&
         std::all_of(rows.begin() + 1, rows.end(),
                     [&](const auto& row) { return row.size() == std::size_t(*width); });
}

/// Throws at a row that is shorter or longer than it should be; `expected` gives the right width.
void check_width(const SourceText& source, const std::vector<Entry>& row, std::size_t width,
                 const std::string& expected) {
  if (row.size() == width) return;
  const std::string_view place = row.size() > width ? row[width].word : end_of(row);
  source.fail(place, "this row has " + plural(row.size(), "number") + ", " + expected);
}

/// The size that all rows have. Throws at the first row that is shorter or longer than the first.
std::pair<int, int> size_of_grid(const SourceText& source, const EntryRows& rows) {
  const std::size_t width = rows[0].size();
  for (const auto& row : rows)
    check_width(source, row, width,
                "the first row " + std::to_string(width) + "; make them the same (a vips matrix, " +
                    kVipsForm + " first, has the suffix .mat)");
  if (rows.size() > kMaxMaskSide) {
    source.fail(rows.back()[0].word,
                "a mask has at most " + plural(kMaxMaskSide, "row") + "; make it smaller");
  }
  return {width, rows.size()};
}

/// Takes the header from the front of the rows, with its scale and offset, if any. Throws if it is
/// no header, or does not fit the rows.
std::pair<int, int> take_vips_header(const SourceText& source, MaskLines& lines) {
  const std::vector<Entry> header = std::move(lines.rows.front());
  lines.rows.erase(lines.rows.begin());
  if (header.size() < 2 || header.size() > 4) {
    source.fail(header[0].word, "a vips matrix starts with " + std::string(kVipsForm) +
                                    ", not with " + plural(header.size(), "number"));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_side(whole_number(header[i].word))) continue;
    source.fail(header[i].word,
                in_quotes(header[i].word) + " is no side of a mask, which is 1 to " +
                    std::to_string(kMaxMaskSide) + "; a vips matrix starts with " + kVipsForm);
  }
  const auto take = [&](std::size_t i, std::optional<Entry>& into, const std::string& key) {
    if (header.size() <= i) return;
    if (into) {
      source.fail(header[i].word,
                  "the " + key + " is given twice, here and by '" + key + "'; keep one of them");
    }
    into = header[i];
  };
  take(2, lines.scale, "scale");
  take(3, lines.offset, "offset");
  if (lines.scale) check_scale(source, *lines.scale);

  const std::size_t width = *whole_number(header[0].word), height = *whole_number(header[1].word);
  for (std::size_t y = 0; y < lines.rows.size(); ++y) {
    const auto& row = lines.rows[y];
    if (y == height) {
      source.fail(row[0].word, "one row too many; the vips header says " + plural(height, "row"));
    }
    check_width(source, row, width, "the vips header says " + std::to_string(width));
  }
  if (lines.rows.size() < height) {
    source.fail(end_of(lines.rows.empty() ? header : lines.rows.back()),
                "the vips header says " + plural(height, "row") + ", but there " +
                    (lines.rows.size() == 1 ? "is " : "are ") + std::to_string(lines.rows.size()));
  }
  return {width, height};
}

std::pair<int, int> size_of_magick(const SourceText& source, const MaskLines& lines) {
  const auto& weights = lines.rows[0];
  const std::size_t needed = std::size_t(lines.magick_width) * lines.magick_height;
  if (weights.size() < needed) {
    const std::string_view header = lines.magick_header;
    source.fail(weights.empty() ? header.substr(header.size()) : end_of(weights),
                std::string(header) + " needs " + plural(needed, "number") + ", but there " +
                    (weights.size() == 1 ? "is " : "are ") + std::to_string(weights.size()));
  }
  return {lines.magick_width, lines.magick_height};
}

/// Finds out which of the three grammars the lines follow, leaves only weights in the rows, and
/// returns the size.
std::pair<int, int> lay_out(const SourceText& source, MaskLines& lines, std::string* ambiguity) {
  if (!lines.magick_header.empty()) return size_of_magick(source, lines);
  if (lines.rows.empty()) {
    // At the mark before them, if there is one.
    const std::string_view mark = lines.begins_behind;
    source.fail(mark.empty() ? source.text().substr(0, 0) : mark,
                mark.empty() ? "there are no weights; write rows of numbers"
                             : "there are no weights behind this; write rows of numbers");
  }
  const std::string suffix = std::filesystem::path(source.file_name()).extension().string();
  if (lower_case(suffix) == ".mat") return take_vips_header(source, lines);
  const bool could_be_vips = fits_vips_header(lines.rows);
  const bool is_grid = std::ranges::all_of(
      lines.rows, [&](const auto& row) { return row.size() == lines.rows[0].size(); });
  if (!is_grid && could_be_vips) return take_vips_header(source, lines);
  const auto size = size_of_grid(source, lines.rows);
  if (ambiguity && could_be_vips && !lines.has_keys()) {
    *ambiguity =
        printable_name(source.file_name()) + " is read as a grid of " + std::to_string(size.first) +
        "x" + std::to_string(size.second) +
        " weights, though its first row could be a vips header; give it the suffix .mat if " +
        "so, else a line 'scale: 1'";
  }
  return size;
}

/// A column or row of the anchor. Throws if it lies outside the mask.
int anchor_in(const SourceText& source, std::string_view word, int side, const std::string& what) {
  const int at = *whole_number(word);
  if (at < side) return at;
  source.fail(word, "the anchor lies outside the mask, whose " + what + "s are 0 to " +
                        std::to_string(side - 1));
}

Mask make_mask_of(const SourceText& source, MaskLines& lines, std::string* ambiguity) {
  const auto [width, height] = lay_out(source, lines, ambiguity);
  const std::string stem = std::filesystem::path(source.file_name()).stem().string();
  Mask mask = make_mask(printable_name(lines.name.empty() ? std::string_view(stem) : lines.name),
                        width, height, {});
  if (!lines.anchor.empty()) {
    mask.anchor_x = anchor_in(source, lines.anchor[0], width, "column");
    mask.anchor_y = anchor_in(source, lines.anchor[1], height, "row");
  }
  std::vector<Number> weights;
  weights.reserve(std::size_t(width) * height);
  for (const auto& row : lines.rows) {
    for (const Entry& entry : row) weights.push_back(entry.number);
  }
  const Number scale = lines.scale ? lines.scale->number : number_of(1);
  const Number offset = lines.offset ? lines.offset->number : number_of(0);
  if (const auto i = set_weights(mask, weights, scale, offset)) {
    const bool one_row = !lines.magick_header.empty();
    const Entry& entry = one_row ? lines.rows[0][*i] : lines.rows[*i / width][*i % width];
    source.fail(entry.word, "divided by the scale, this is outside the range of a double");
  }
  return mask;
}

/// The mask and its turned copies.
std::vector<Mask> turned_copies(const SourceText& source, const MaskLines& lines, Mask mask) {
  std::vector<Mask> masks{std::move(mask)};
  if (lines.rotate.empty()) return masks;
  const bool by_eighths = lines.rotate == "8" || lines.rotate == "@";
  const Mask& first = masks[0];
  if (by_eighths && (first.width != first.height || first.width % 2 == 0 ||
                     first.anchor_x != first.width / 2 || first.anchor_y != first.height / 2))
    source.fail(lines.rotate,
                "eighths of a turn need a square mask of odd sides with the anchor in its middle; "
                "make it so, or write 'rotate: 4'");
  for (int turn = 1; turn < (by_eighths ? 8 : 4); ++turn)
    masks.push_back(by_eighths ? turned_by_eighth(masks.back()) : turned_by_quarter(masks.back()));
  return masks;
}

}  // namespace

MaskSet parse_masks(std::string_view text, const std::string& file_name, std::string* ambiguity) {
  if (ambiguity) ambiguity->clear();
  const SourceText source(text, file_name);
  LineReader reader(source);
  std::vector<MaskLines> all = reader.read();
  MaskSet set;
  for (MaskLines& lines : all) {
    Mask mask = make_mask_of(source, lines, ambiguity);
    for (Mask& turned : turned_copies(source, lines, std::move(mask)))
      set.masks.push_back(std::move(turned));
  }
  if (const std::string_view word = reader.combine(); !word.empty()) {
    if (set.masks.size() == 1)
      source.fail(word, "there is one mask, so nothing is combined; leave this line out");
    set.combine = *combine_named(word);
  }
  return set;
}

Mask parse_mask(std::string_view text, const std::string& file_name, std::string* ambiguity) {
  return only_mask(parse_masks(text, file_name, ambiguity), file_name);
}

std::string print_mask(const Mask& mask) {
  std::string text;
  const std::string& name = mask.name;
  const auto is_odd = [](unsigned char c) { return c < 0x20 || c >= 0x7f || c == '#'; };
  if (!name.empty() && name.front() != ' ' && name.back() != ' ' &&
      std::ranges::none_of(name, is_odd))
    text += "name: " + name + "\n";
  text += "scale: " + print_number(mask.divisor) + "\n";
  if (mask.offset != 0) {
    // It may be an endless decimal, but then it is a multiple of 1 / divisor.
    const auto exact = multiple_of(mask.offset, mask.divisor);
    text += "offset: " +
            (!exact || exact->den == 1
                 ? print_number(mask.offset)
                 : std::to_string(exact->num) + "/" + std::to_string(exact->den)) +
            "\n";
  }
  if (mask.anchor_x != mask.width / 2 || mask.anchor_y != mask.height / 2)
    text += "anchor: " + std::to_string(mask.anchor_x) + " " + std::to_string(mask.anchor_y) + "\n";
  for (int j = 0; j < mask.height; ++j)
    for (int i = 0; i < mask.width; ++i)
      text += print_number(mask.weight(i, j)) + (i + 1 < mask.width ? ' ' : '\n');
  return text;
}

}  // namespace convfilt
