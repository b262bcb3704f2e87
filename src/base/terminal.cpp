#include "src/base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "src/base/numbers.hpp"

namespace convfilt {
namespace {

constexpr std::size_t kLeast = 80, kUnknown = 100;

/// Columns of a terminal; 0 if there is none.
std::size_t columns_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// The offset of the last column of text, in bytes.
std::size_t last_column(std::string_view line, std::size_t width) {
  const std::size_t first = line.find_first_not_of(' ');
  std::size_t column = first;
  for (std::size_t at = first; (at = line.find("  ", at)) != line.npos;) {
    at = line.find_first_not_of(' ', at);
    if (at == line.npos || width_of(line.substr(0, at)) > width * 2 / 3) break;
    column = at;
  }
  return column;
}

void append_broken(std::string& out, std::string_view line, std::size_t width) {
  const std::size_t column = last_column(line, width);
  const std::size_t hang = column == 0 ? 2 : width_of(line.substr(0, column));
  out += line.substr(0, column);
  std::size_t used = width_of(line.substr(0, column));
  bool first = true;  // whether the next word is the first of its line
  for (std::size_t at = column; at < line.size();) {
    const std::size_t word = line.find_first_not_of(' ', at);
    if (word == line.npos) break;
    const std::size_t end = std::min(line.find(' ', word), line.size());
    const std::size_t wide = width_of(line.substr(word, end - word));
    if (!first && used + (word - at) + wide > width) {
      out += "\n" + std::string(hang, ' ');
      used = hang;
    } else {
      out.append(word - at, ' ');
      used += word - at;
    }
    out += line.substr(word, end - word);
    used += wide;
    first = false;
    at = end;
  }
}

/// Whether the terminal can overwrite a line, as far as it tells.
bool can_go_back() {
  const char* terminal = std::getenv("TERM");
  return !terminal || std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return std::size_t(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

std::size_t terminal_width(int fd) {
  const char* const said = std::getenv("COLUMNS");
  std::size_t columns = said ? number_of_word<std::size_t>(said).value_or(0) : 0;
  if (columns > 100'000) columns = 0;
  if (columns == 0) columns = columns_of(fd);
  return columns == 0 ? kUnknown : std::max(columns, kLeast);
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (width_of(line) <= width)
      out += line;
    else
      append_broken(out, line, width);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

ProgressLine::ProgressLine(bool wanted)
    : wanted_(wanted && ::isatty(STDERR_FILENO) == 1 && can_go_back()) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::show(const std::string& text) {
  constexpr std::size_t kUsual = 80;
  if (!wanted_) return;
  const std::size_t known = columns_of(STDERR_FILENO), columns = known > 0 ? known : kUsual;
  std::fprintf(stream_, "\r\033[K%s", text.substr(0, columns - 1).c_str());
  std::fflush(stream_);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace convfilt
