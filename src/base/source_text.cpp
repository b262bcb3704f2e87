#include "src/base/source_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "src/base/errors.hpp"

namespace convfilt {
namespace {

// A line as shown keeps this many columns before and after the place, 78 in all with the dots and
// the margin.
constexpr std::size_t kShownBefore = 40, kShownAfter = 30;
constexpr std::size_t kQuoted = 40;
constexpr std::string_view kDots = "...";

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::string hex(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

std::string escaped(std::string_view bytes) {
  std::string shown;
  for (char c : bytes) {
    if (c == '\t') {
      shown += ' ';
    } else if (is_control(c) || static_cast<unsigned char>(c) >= 0x80) {
      shown += hex(c);
    } else {
      shown += c;
    }
  }
  return shown;
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// 1025 x 1025 weights of 60 letters each fit, so a larger file is not a mask.
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

}  // namespace

std::string read_text(const std::string& path, const std::string& kind) {
  const std::string name = printable_name(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw IoError(name + ": a folder, not a " + kind + "; name a file in it");
  }
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file)
    throw IoError(name + ": cannot be opened: " + std::strerror(errno) + "; check the path");
  std::string text;
  char block[1 << 16];
  while (const std::size_t n = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, n);
    if (text.size() > kMaxBytes) {
      throw IoError(name + ": larger than 64 MiB, so not a " + kind + "; give a text file");
    }
  }
  if (std::ferror(file.get()) != 0) {
    throw IoError(name + ": cannot be read: " + std::strerror(errno) + "; check the disk");
  }
  return text;
}

SourceText::SourceText(std::string_view text, std::string file_name)
    : text_(text), file_name_(std::move(file_name)) {
  if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff")) {
    fail(text_.substr(0, 1), "the file is UTF-16; save it as plain text or UTF-8");
  }
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const char c = text_[i];
    if (!is_control(c) || c == '\t' || c == '\n') continue;
    if (c == '\r' && (i + 1 == text_.size() || text_[i + 1] == '\n')) continue;
    fail(text_.substr(i, 1),
         "byte " + hex(c) + " does not belong in a text file; save it as plain text");
  }
}

std::string_view SourceText::take_line(std::string_view& rest) {
  const std::size_t length = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, length);
  rest.remove_prefix(std::min(length + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void SourceText::fail(std::string_view place, const std::string& message) const {
  throw IoError(pointing_at(place, message));
}

std::string SourceText::pointing_at(std::string_view place, const std::string& message) const {
  const std::size_t at = static_cast<std::size_t>(place.data() - text_.data());
  const std::string_view before = text_.substr(0, at);
  const auto line_number = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  std::string_view rest = text_.substr(line_start);
  const std::string_view line = take_line(rest);
  const std::string_view left = before.substr(line_start);
  const auto column =
      1 + left.size() - std::count_if(left.begin(), left.end(), continues_character);

  // A place at the very end of a CRLF line may lie on the CR, which does not belong to the line.
  std::string shown = escaped(left);
  std::string_view behind = line.substr(std::min(left.size(), line.size()));
  if (shown.size() > kShownBefore) {
    shown = std::string(kDots) + shown.substr(shown.size() - kShownBefore);
  }
  const std::string caret = std::string(shown.size(), ' ') + '^';
  const std::string after = escaped(behind.substr(0, kShownAfter));
  const bool clipped = after.size() > kShownAfter || behind.size() > kShownAfter;
  shown += after.substr(0, kShownAfter);
  if (clipped) shown += kDots;
  return printable_name(file_name_) + ':' + std::to_string(line_number) + ':' +
         std::to_string(column) + ": " + message + "\n  " + shown + "\n  " + caret;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string in_quotes(std::string_view word) {
  std::string shown = escaped(word.substr(0, kQuoted));
  if (shown.size() > kQuoted || word.size() > kQuoted) {
    shown = shown.substr(0, kQuoted) + std::string(kDots);
  }
  return '\'' + shown + '\'';
}

std::string printable_name(std::string_view name) {
  std::string shown;
  for (char c : name) shown += is_control(c) ? hex(c) : std::string(1, c);
  return shown;
}

std::string quoted_name(std::string_view name) {
  return "'" + printable_name(name) + "'";
}

}  // namespace convfilt
