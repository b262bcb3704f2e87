#include "src/mask/text.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/source_text.hpp"
#include "src/mask/exact.hpp"
#include "src/mask/lines.hpp"
#include "src/mask/number.hpp"
#include "src/mask/rational.hpp"

namespace convfilt {
namespace {

using Rows = std::vector<std::vector<Entry>>;
constexpr const char* kVipsForm = "WIDTH HEIGHT [SCALE [OFFSET]]";

std::string_view end_of(const std::vector<Entry>& row) {
  return row.back().word.substr(row.back().word.size());
}

bool has_vips_suffix(const std::string& file_name) {
  std::string suffix = std::filesystem::path(file_name).extension().string();
  for (char& c : suffix) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return suffix == ".mat";
}

bool is_grid(const Rows& rows) {
  return std::all_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row.size() == rows[0].size(); });
}

/// The first row reads as a vips header, and the rows after it are just as it says.
bool fits_vips_header(const Rows& rows) {
  if (rows[0].size() < 2 || rows[0].size() > 4) return false;
  const auto width = whole_number(rows[0][0].word), height = whole_number(rows[0][1].word);
  return is_side(width) && is_side(height) && rows.size() == std::size_t(*height) + 1 &&
         std::all_of(rows.begin() + 1, rows.end(),
                     [&](const auto& row) { return row.size() == std::size_t(*width); });
}

/// The size that all rows have. Throws at the first row that is shorter or longer than the first.
std::pair<int, int> size_of_grid(const SourceText& source, const Rows& rows) {
  const std::size_t width = rows[0].size();
  for (const auto& row : rows) {
    if (row.size() == width) continue;
    const std::string_view place = row.size() > width ? row[width].word : end_of(row);
    source.fail(place, "this row has " + count_of(row.size(), "number") + ", the first row " +
                           std::to_string(width) + "; make them the same (a vips matrix, " +
                           kVipsForm + " first, has the suffix .mat)");
  }
  if (rows.size() > kMaxMaskSide) {
    source.fail(rows.back()[0].word,
                "a mask has at most " + count_of(kMaxMaskSide, "row") + "; make it smaller");
  }
  return {width, rows.size()};
}

/// Takes the header from the front of the rows, and the scale and offset it may have. Throws if
/// it is none, or the rows are not as it says.
std::pair<int, int> take_vips_header(const SourceText& source, MaskLines& lines) {
  const std::vector<Entry> header = std::move(lines.rows.front());
  lines.rows.erase(lines.rows.begin());
  if (header.size() < 2 || header.size() > 4) {
    source.fail(header[0].word, "a vips matrix starts with " + std::string(kVipsForm) +
                                    ", not with " + count_of(header.size(), "number"));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_side(whole_number(header[i].word))) continue;
    source.fail(header[i].word, quoted(header[i].word) + " is no side of a mask, which is 1 to " +
                                    std::to_string(kMaxMaskSide) + "; a vips matrix starts with " +
                                    kVipsForm);
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
      source.fail(row[0].word, "one row too many; the vips header says " + count_of(height, "row"));
    }
    if (row.size() == width) continue;
    const std::string_view place = row.size() > width ? row[width].word : end_of(row);
    source.fail(place, "this row has " + count_of(row.size(), "number") +
                           ", the vips header says " + std::to_string(width));
  }
  if (lines.rows.size() < height) {
    source.fail(end_of(lines.rows.empty() ? header : lines.rows.back()),
                "the vips header says " + count_of(height, "row") + ", but there " +
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
                std::string(header) + " needs " + count_of(needed, "number") + ", but there " +
                    (weights.size() == 1 ? "is " : "are ") + std::to_string(weights.size()));
  }
  return {lines.magick_width, lines.magick_height};
}

/// Finds out which of the three grammars it is, leaves only weights in the rows, and gives the
/// size.
std::pair<int, int> lay_out(const SourceText& source, MaskLines& lines, std::string* doubt) {
  if (!lines.magick_header.empty()) return size_of_magick(source, lines);
  if (lines.rows.empty()) {
    source.fail(source.text().substr(0, 0), "there are no weights; write rows of numbers");
  }
  if (has_vips_suffix(source.file_name())) return take_vips_header(source, lines);
  const bool could_be_vips = fits_vips_header(lines.rows);
  if (!is_grid(lines.rows) && could_be_vips) return take_vips_header(source, lines);
  const auto size = size_of_grid(source, lines.rows);
  const bool has_keys = lines.scale || lines.offset || lines.anchor || !lines.name.empty();
  if (doubt && could_be_vips && !has_keys) {
    *doubt = printable_name(source.file_name()) + " is read as a grid of " +
             std::to_string(size.first) + "x" + std::to_string(size.second) +
             " weights, though its first row could be a vips header; give it the suffix .mat if " +
             "so, else a line 'scale: 1'";
  }
  return size;
}

void check_anchor(const SourceText& source, const AnchorEntry& anchor, const Mask& mask) {
  const auto check = [&](int at, std::string_view word, int side, const std::string& what) {
    if (at < side) return;
    source.fail(word, "the anchor lies outside the mask, whose " + what + "s are 0 to " +
                          std::to_string(side - 1));
  };
  check(anchor.x, anchor.x_word, mask.width, "column");
  check(anchor.y, anchor.y_word, mask.height, "row");
}

/// Whether the grammar can say the name: one line, no comment sign, no blanks around it.
bool can_be_said(const std::string& name) {
  const auto is_blank = [](char c) { return c == ' '; };
  return !name.empty() && !is_blank(name.front()) && !is_blank(name.back()) &&
         std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '#';
         });
}

/// Over a divisor, the offset's decimal may be endless, but it is a multiple of 1/divisor.
std::string print_offset(const Mask& mask) {
  const auto exact = multiple_of(mask.offset, mask.divisor);
  if (!exact || exact->den == 1) return print_number(mask.offset);
  return std::to_string(exact->num) + '/' + std::to_string(exact->den);
}

}  // namespace

Mask parse_mask(std::string_view text, const std::string& file_name, std::string* doubt) {
  if (doubt) doubt->clear();
  const SourceText source(text, file_name);
  MaskLines lines = read_mask_lines(source);
  const auto [width, height] = lay_out(source, lines, doubt);

  const std::string stem = std::filesystem::path(file_name).stem().string();
  Mask mask = make_mask(printable_name(lines.name.empty() ? std::string_view(stem) : lines.name),
                        width, height, {});
  if (lines.anchor) {
    check_anchor(source, *lines.anchor, mask);
    mask.anchor_x = lines.anchor->x;
    mask.anchor_y = lines.anchor->y;
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

std::string print_mask(const Mask& mask) {
  std::string text;
  if (can_be_said(mask.name)) text += "name: " + mask.name + '\n';
  text += "scale: " + print_number(mask.divisor) + '\n';
  text += "offset: " + print_offset(mask) + '\n';
  text += "anchor: " + std::to_string(mask.anchor_x) + ' ' + std::to_string(mask.anchor_y) + '\n';
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      text += print_number(mask.weight(i, j));
      text += i + 1 < mask.width ? ' ' : '\n';
    }
  }
  return text;
}

}  // namespace convfilt
